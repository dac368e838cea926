//go:build !linux

package clock

import "time"

func sleep(d time.Duration) { time.Sleep(d) }

func nap(d time.Duration) { time.Sleep(d) }

func monotonic() int64 { return 0 }

func asleep() (least, most int64) { return 0, 0 }

func pin(int) {}

func eager() {}
