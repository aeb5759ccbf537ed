// Keeps what Node makes of the sources between the processes of a run, and from one run to the next: each loads hundreds of
// the same files. By a call and not by the environment, which programs that tests start would have too.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// An entry for each file, written anew when the file has changed.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tests'))
