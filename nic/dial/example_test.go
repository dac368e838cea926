package dial_test

import (
	"context"
	"fmt"

	"loadtest/nic/dial"
)

// Two ports of a simulated network; they share it, and its virtual clock.
func ExampleOpen() {
	devices, clock, err := dial.Open(context.Background(), "sim:wire/a", "sim:wire/b")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dial.Close(devices)
	fmt.Println(devices["sim:wire/b"].Info.Backend, "virtual:", clock.Virtual())
	// Output: sim virtual: true
}
