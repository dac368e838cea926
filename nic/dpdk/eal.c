//go:build dpdk && cgo && linux

// EAL: how it is started, what it says, and which threads it knows.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "dpdk.h"

// What DPDK has said lately: the first of it, as that is what the rest came of.
static struct {
	pthread_mutex_t lock;
	size_t n;
	char text[4096];
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ssize_t say(void *cookie, const char *text, size_t n)
{
	size_t k;

	(void)cookie;
	pthread_mutex_lock(&said.lock);
	k = RTE_MIN(n, sizeof said.text - 1 - said.n);
	memcpy(said.text + said.n, text, k);
	said.n += k;
	pthread_mutex_unlock(&said.lock);
	return (ssize_t)n;
}

char *lt_log(void)
{
	char *text;

	pthread_mutex_lock(&said.lock);
	said.text[said.n] = 0;
	said.n = 0;
	text = strdup(said.text);
	pthread_mutex_unlock(&said.lock);
	return text;
}

static pthread_key_t registered; // of a thread: that it is to be forgotten when it ends

static void forget(void *mark)
{
	(void)mark;
	rte_thread_unregister();
}

static FILE *out, *err, *log_stream, *nowhere; // the C library's streams as they were, and what stands for them

// lt_hush: DPDK and what it uses print, too. The C library lets its streams be replaced; Go's are not touched.
void lt_hush(bool on)
{
	fflush(log_stream);
	stdout = on ? nowhere : out;
	stderr = on ? log_stream : err;
}

// lt_init starts EAL, and puts back which CPUs the calling thread may use.
int lt_init(int argc, char **argv)
{
	cpu_set_t cpus;
	int failed = 0;

	out = stdout;
	err = stderr;
	log_stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = say});
	nowhere = fopen("/dev/null", "w");
	if (!log_stream || !nowhere)
		return errno;
	setvbuf(log_stream, NULL, _IOLBF, 1024);
	rte_openlog_stream(log_stream);
	pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
	lt_hush(true);
	if (rte_eal_init(argc, argv) < 0)
		failed = rte_errno ? rte_errno : EINVAL;
	lt_hush(false);
	pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
	if (!failed)
		failed = lt_stock_init();
	if (!failed)
		failed = pthread_key_create(&registered, forget);
	return failed;
}

bool lt_huge(void) { return rte_eal_has_hugepages(); }

static void arrive(void *sem) { sem_post(sem); }

// lt_settle waits until EAL's own thread has seen what happened before: drivers tell it of ends of connections, and must not do
// so of devices that are gone. What happens at once comes in any order, hence twice; it is no more than microseconds.
void lt_settle(void)
{
	sem_t sem;

	sem_init(&sem, 0, 0);
	for (int i = 0; i < 2; i++)
		if (rte_eal_alarm_set(1, arrive, &sem) == 0)
			while (sem_wait(&sem) != 0) // a signal came
				;
	sem_destroy(&sem);
}

bool lt_register(void)
{
	static _Thread_local bool tried;

	if (rte_lcore_id() == LCORE_ID_ANY && !tried) {
		tried = true;
		if (rte_thread_register() == 0)
			pthread_setspecific(registered, &registered);
	}
	return rte_lcore_id() != LCORE_ID_ANY;
}
