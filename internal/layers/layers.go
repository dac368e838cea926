// Package layers keeps the drawing of ARCHITECTURE.md true. It is only a test.
//
//	ARCHITECTURE.md, go list ─→ list of layers ─→ an import that points up or sideways fails
package layers
