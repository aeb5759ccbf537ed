// A copy of the tree whose sources may be changed, with its tests.
import { spawn } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** The time limit of a test, because a changed loop may never end; slower tests are not used. */
const TEST_MS = 40_000

export class TreeCopy {
  #root
  #folder

  constructor(root, folder) {
    this.#root = root
    this.#folder = folder
  }

  static async of(root) {
    const folder = await mkdtemp(join(tmpdir(), 'portico-mutants-'))
    const skip = new Set(['node_modules', '.git', 'dist', 'bench', 'e2e'])
    for (const name of readdirSync(root)) {
      if (skip.has(name)) continue
      const filter = (from) => !skip.has(basename(from))
      await cp(join(root, name), join(folder, name), { recursive: true, filter })
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    return new TreeCopy(root, folder)
  }

  /** Runs `run` while the change is applied. */
  async with({ file, start, end, by }, run) {
    const path = join(this.#folder, file)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(0, start) + by + text.slice(end))
    try {
      return await run()
    } finally {
      await writeFile(path, text)
    }
  }

  /** Whether all tests of a file pass in time. */
  passes(test) {
    const options = ['--test', '--test-isolation=none', '--test-force-exit', `--test-timeout=${TEST_MS / 2}`]
    options.push(`--test-reporter=${join(this.#folder, 'scripts/mutants/first-failure.mjs')}`)
    options.push(`--import=${join(this.#folder, 'scripts/compile-cache.mjs')}`)
    const program = join(this.#root, 'node_modules/.bin/node')
    return new Promise((resolve) => {
      const child = spawn(program, [...options, test], { cwd: this.#folder, stdio: 'ignore', detached: true })
      const late = setTimeout(() => kill(child), TEST_MS)
      child.on('exit', (code) => {
        clearTimeout(late)
        kill(child)
        resolve(code === 0)
      })
    })
  }

  remove() {
    return rm(this.#folder, { recursive: true, force: true })
  }
}

/** Kills the process group, because tests start programs. */
function kill({ pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
