// Enables the compile cache for test processes, which load hundreds of the same files. It is enabled by a call and not by
// the environment, which programs that tests start would inherit.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// One entry per file, replaced when the file changes.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tests'))
