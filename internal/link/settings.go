package link

// Settings is how an interface is set up, as far as its driver tells.
type Settings struct {
	Bus        string // address of the device on its bus, as 0000:22:00.0, if the driver is that of a device
	HalfDuplex bool
	Pause      *Pause
	EEE        *EEE
	FEC        string // mode of forward error correction: "RS", "BaseR", "off", …; "" not told
	Rings      *Rings
	Queues     *Queues
	Features   map[string]Feature // by ethtool's names, as rx-gro
}

// Pause is flow control by PAUSE frames.
type Pause struct{ Autoneg, Rx, Tx bool }

// EEE is energy efficient Ethernet (IEEE 802.3az): a line that sleeps between frames.
type EEE struct{ Enabled, Active bool }

// Rings are lengths in descriptors.
type Rings struct{ Rx, Tx, MaxRx, MaxTx int }

// Queues is how many there are: Combined both receive and send.
type Queues struct{ Rx, Tx, Combined, MaxRx, MaxTx, MaxCombined int }

// A Feature is an offload. Fixed: it cannot be switched.
type Feature struct{ On, Fixed bool }
