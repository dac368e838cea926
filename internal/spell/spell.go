// Package spell tells how far a word is from the one that was meant: mistyped word, known words → distance → "did you mean".
package spell

// Slips is how many letters (bytes) must be added, dropped or changed to get from a to b (Levenshtein's distance).
func Slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
