// A copy of the tree whose sources may be changed, with its tests.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Workspace } from './workspace.mjs'

/** The time limit of a test file, because a changed loop may never end; slower files are not used. */
const FILE_MS = 60_000

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
    linkModules(root, folder)
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
  async passes(test) {
    return (await this.run(test)) === 'passed'
  }

  /** Runs a test file: `passed`, `failed`, or `late` when the file does not end in time. */
  run(test) {
    const options = ['--test', '--test-isolation=none', '--test-force-exit']
    options.push(`--test-reporter=${join(this.#folder, 'scripts/mutants/first-failure.mjs')}`)
    options.push(`--import=${join(this.#folder, 'scripts/compile-cache.mjs')}`)
    const program = join(this.#root, 'node_modules/.bin/node')
    return new Promise((resolve) => {
      const child = spawn(program, [...options, test], { cwd: this.#folder, stdio: 'ignore', detached: true })
      let isLate = false
      const limit = setTimeout(() => {
        isLate = true
        kill(child)
      }, FILE_MS)
      child.on('exit', (code) => {
        clearTimeout(limit)
        kill(child)
        resolve(code === 0 ? 'passed' : isLate ? 'late' : 'failed')
      })
    })
  }

  remove() {
    return rm(this.#folder, { recursive: true, force: true })
  }
}

/**
 * Links what is installed, and the packages of the tree to the copy: linked as a whole, `node_modules` would lead imports
 * between packages back to the unchanged tree.
 */
function linkModules(root, folder) {
  const packages = new Workspace(root).folders
  const scopes = new Set(packages.flatMap(([name]) => (name.startsWith('@') ? [dirname(name)] : [])))
  const own = new Set([...packages.map(([name]) => name), ...scopes])
  const linkAll = (from) => {
    mkdirSync(join(folder, from), { recursive: true })
    for (const name of readdirSync(join(root, from)))
      if (!own.has(name)) symlinkSync(join(root, from, name), join(folder, from, name))
  }
  for (const at of ['', ...packages.map(([, path]) => path)])
    if (existsSync(join(root, at, 'node_modules'))) linkAll(join(at, 'node_modules'))
  for (const [name, path] of packages) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(folder, path), join(folder, 'node_modules', name))
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
