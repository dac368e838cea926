// What the C files share with each other and with Go. Times are ns on the run's clock: CLOCK_MONOTONIC since the epoch.

#ifndef LT_DPDK_H
#define LT_DPDK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct rte_mbuf;
struct rte_mempool;

enum {
	LT_BURST = 32,           // more in one call of a driver is not faster
	LT_LENT = 256,           // frames that one Recv gives at most
	LT_CONSUMED = 512,       // own packets that one Recv counts at most
	LT_CELLS = 35 * 64,      // of a histogram
	LT_WINDOW = 1 << 20,     // sequence numbers that a window remembers
	LT_TAG = 18,             // bytes
};

#define LT_NEVER INT64_MAX

// histogram: cells as trial.HistogramCells says.
struct lt_histogram {
	uint64_t cell[LT_CELLS];
	uint64_t count;
	int64_t least, most;
	double sum;
};

static inline uint32_t lt_cell(int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;
	int shift = 57 - __builtin_clzll(v | 64);

	return v >> 40 ? LT_CELLS - 1 : (uint32_t)((shift << 6) + (v >> shift));
}

// lt_record counts a time n times; n is not 0.
static inline void lt_record(struct lt_histogram *h, int64_t ns, uint32_t n)
{
	if (ns < 0)
		ns = 0;
	h->cell[lt_cell(ns)] += n;
	if (h->count == 0 || ns < h->least)
		h->least = ns;
	if (ns > h->most)
		h->most = ns;
	h->count += n;
	h->sum += (double)ns * n;
}

static inline int64_t lt_clock(int64_t epoch)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec - epoch;
}

// wire bits: as units.WireBits.
static inline int64_t lt_wire_bits(uint32_t size) { return ((size < 60 ? 60 : size) + 24) * 8; }

// eal.c

char *lt_log(void);                               // what DPDK has said since the last call; the caller's
int lt_init(int argc, char **argv);               // 0, or an errno
void lt_hush(bool on);                            // what the C library prints goes to the log
bool lt_huge(void);                               // whether memory is of huge pages
void lt_settle(void);                             // until EAL's own thread has seen what happened before
bool lt_register(void);                           // makes the calling thread one of EAL's, if it is none; false: no room

// tag.c

int lt_tag_at(const uint8_t *b, uint32_t size);   // where in a frame a tag may be; -1: nowhere

// port.c

struct lt_device {
	uint16_t port;
	bool kernel;         // an interface of the kernel's, which may go without the driver's noticing
	int64_t epoch;
	struct rte_mempool *pool;
	uint16_t tx;         // frames that a transmit ring holds
	uint32_t link_up, downs;
	uint32_t unread;     // frames in pieces that there was no memory to join for
};

struct lt_facts {
	char driver[64];
	uint8_t mac[6];
	uint16_t queues, mtu;
	uint32_t mbps;       // 0: not known
	uint32_t index;      // of the kernel's interface; 0: none
	int numa;
	bool up;
};

struct lt_status {
	bool up;
	int64_t downs, missed, tx_errors, tx_frames;
};

int lt_find(const char *name, uint16_t *port);    // 0, or an errno
int lt_probe(const char *devargs);                // 0, or an errno
void lt_unplug(struct lt_device *d);
// What failed is told in step.
int lt_start(struct lt_device *d, uint16_t queues, struct lt_facts *f, const char **step);
void lt_status(struct lt_device *d, bool lost, struct lt_status *s);
bool lt_up(struct lt_device *d);
// ops: how it keeps what no thread does; NULL: as DPDK likes best.
struct rte_mempool *lt_pool(uint32_t frames, uint16_t cache, uint32_t room, int numa, const char *ops);
bool lt_pool_free(struct rte_mempool *p, bool sure); // false: some of its packets may still be on their way
int lt_ring_pair(const char *a, const char *b, uint32_t size);

struct lt_out { uint8_t *data; uint32_t size; };

// queue: one, both halves. Send fills free[..].data and size and calls lt_send.
struct lt_queue {
	struct lt_device *device;
	uint16_t id;

	uint16_t fresh;                   // room for so many frames
	bool look;                        // it is time to look whether the kernel's interface is still there
	bool away;                        // it is not, as Go found
	int64_t looked;
	struct lt_out room[LT_BURST];
	struct rte_mbuf *room_mbuf[LT_BURST];

	uint16_t held_at, held_n;         // read from the driver, not looked at yet
	struct rte_mbuf *held[LT_BURST];
	int64_t arrived;                  // when they were read
	uint32_t lent_n;
	struct lt_out lent[LT_LENT];
	int64_t lent_at[LT_LENT];
	struct rte_mbuf *lent_mbuf[LT_LENT];
	uint8_t *flat[LT_LENT];           // of a frame that was in pieces
	struct lt_classifier *classifier; // NULL: every frame is lent
};

uint16_t lt_send(struct lt_queue *q, uint16_t n); // sends the first n of room; what it takes is full again. n 0: only makes room
uint32_t lt_recv(struct lt_queue *q, uint32_t want);
void lt_release(struct lt_queue *q);              // what both halves hold
void lt_look(struct lt_queue *q, int64_t now);

// pace.c

struct lt_schedule {
	uint64_t num, den;                // a packet of cost c takes c * num / den ns
	uint64_t rem;                     // of 1 / den ns
	int64_t due;
	uint64_t cost, ns, more;          // of the packet before: it takes ns and more / den
};

void lt_next(struct lt_schedule *s, uint64_t cost);

struct lt_packet {
	const uint8_t *data;              // of Go's store, pinned
	int64_t gap;
	int64_t bytes, wire;              // of the packets before it
	uint32_t tagged;                  // of them
	uint32_t size;
	int32_t tag;
};

enum { LT_WIRE_BITS, LT_PACKETS, LT_FACTOR };     // unit of a load

struct lt_lane {
	const struct lt_packet *packets;  // n, and one that only says what was before it
	uint32_t n, pos;
	struct rte_mempool *stock;        // of mbufs that hold the packets; NULL: none
	uint32_t ready_at, ready_n;
	struct rte_mbuf *ready[LT_BURST]; // the next ones of it
	int unit;
	bool counting;                    // sequence numbers are those of counted packets
	uint64_t head[2];                 // of tags, without a sequence number: counted, of the pre-roll
	struct lt_schedule schedule;
	int64_t left;                     // packets until the lane's limit
	uint32_t next;                    // sequence number
	int64_t issued;
	uint32_t slot;
	struct { int64_t at, due; } recent[LT_BURST]; // departures of the packets before the next one, a ring
	int64_t intended, sent, bytes, wire, tagged;
	struct lt_histogram late;
};

// entry: packets of a lane that are due, at one time, and not booked yet; of a lane that is paced, one. In order of due.
struct lt_entry {
	struct lt_lane *lane;
	int64_t due;
	uint32_t n, pos, slot;
	bool paced, counted;
};

struct lt_player {
	struct lt_queue *queue;
	struct lt_lane *lanes;
	uint32_t n;
	int64_t count, end, credit;
	uint32_t entries, pending;        // pending: packets
	struct lt_entry entry[LT_BURST];
	struct rte_mbuf *mbuf[LT_BURST];
	uint32_t fresh;
	struct rte_mbuf *stash[LT_BURST]; // for packets that have no mbuf in a stock now
	int64_t taken;                    // by the driver, ever
};

void lt_begin(struct lt_player *p);               // drops what is pending, and all that lanes are but their packets
int64_t lt_step(struct lt_player *p, int64_t now);
int64_t lt_play(struct lt_player *p, int64_t until, int64_t nearby);
int64_t lt_due(const struct lt_player *p, uint32_t lane);
void lt_player_free(struct lt_player *p, struct lt_packet *packets);

// stock.c

int lt_stock_init(void);                          // 0, or an errno
uint32_t lt_stock_size(const struct lt_device *d, uint32_t packets);
bool lt_stock(struct lt_lane *l, uint32_t frames, int numa);
uint32_t lt_take(struct lt_player *p, struct lt_lane *l, struct rte_mbuf **m, uint32_t n);
void lt_stock_rest(struct lt_player *p);          // what the calling thread keeps of stocks goes back to them
void lt_stock_close(struct lt_lane *l);           // leaves the pool, which is Go's to free

// classify.c

struct lt_window {
	int64_t received, duplicated, reordered, too_old, top;
	uint64_t *bits;                   // LT_WINDOW of them
};

enum { LT_NEW, LT_AGAIN, LT_OLD };                // as match.New and so on

int lt_see(struct lt_window *w, uint32_t low);
void lt_forget(struct lt_window *w);

struct lt_arrivals {
	struct lt_window window;
	int64_t bytes, wire, last;
	int64_t half_packets, half_bytes, half_wire;
	struct lt_histogram latency;
};

struct lt_classifier {
	uint16_t magic;
	uint8_t trial, preroll;
	int64_t half, half_end;
	struct lt_arrivals *lane[256];    // NULL: not awaited
};

bool lt_classify(struct lt_classifier *c, const uint8_t *b, uint32_t size, int64_t now);
struct lt_arrivals *lt_arrivals_new(void);
void lt_arrivals_reset(struct lt_arrivals *a);
void lt_arrivals_free(struct lt_arrivals *a);

#endif
