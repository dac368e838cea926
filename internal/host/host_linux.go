package host

import "os"

func (f *Facts) system() { f.proc(os.DirFS("/")) }
