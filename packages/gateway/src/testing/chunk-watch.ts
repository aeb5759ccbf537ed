import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

/** Chunks that built programs load, watched from outside: the loader of chunks makes a `vm.Script` of each. */
export interface ChunkWatch {
  /** Environment for programs that are to be watched. */
  env: Readonly<Record<string, string>>
  /** Names without the hash of every chunk that a watched program has loaded so far. */
  loaded(): Set<string>
  /** Names without the hash of every chunk of the build that watched programs run. */
  all(): Set<string>
}

export function useChunkWatch(t: TestContext): ChunkWatch {
  const folder = mkdtempSync(join(tmpdir(), 'portico-chunks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [watcher, seen] = [join(folder, 'watch.cjs'), join(folder, 'seen')]
  writeFileSync(watcher, WATCHER)
  writeFileSync(seen, '')
  const files = () => readFileSync(seen, 'utf8').split('\n').filter(Boolean)
  const names = (paths: readonly string[]) => new Set(paths.map((path) => basename(path).replace(HASH, '')))
  return {
    env: { NODE_OPTIONS: `--require ${watcher}`, CHUNKS_SEEN: seen },
    loaded: () => names(files()),
    all: () => names([...new Set(files().map(dirname))].flatMap((program) => readdirSync(program))),
  }
}

const HASH = /-[\w-]{8}\.js$|\.js$/

const WATCHER = `const vm = require('node:vm')
const { appendFileSync } = require('node:fs')
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    appendFileSync(process.env.CHUNKS_SEEN, options.filename + '\\n')
  }
}
`
