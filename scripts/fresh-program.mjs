// Builds the program of this checkout from its current sources.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/portico')
const BUILDERS = [
  'package-lock.json',
  ...[
    'bundle',
    'chunk-text',
    'ahead/compile-ahead',
    'ahead/compile-commands',
    'package/notice',
    'programs',
    'without-descriptions',
  ].map((name) => `scripts/${name}.mjs`),
  'scripts/ahead/record-code.cjs',
]
/** The number of older builds that are kept, because running programs may use them. */
const KEPT = 8
/** How often a start looks whether the build of another process is complete. */
const LOOK_MS = 50
/** After this time an empty lock belongs to no process. */
const EMPTY_LOCK_MS = 2_000

/**
 * The folder with the bundled program, built now unless it is there already; null where it cannot be built.
 *
 * @param {'gateway' | 'ctl' | 'controller'} name of the package
 */
export function freshProgram(name) {
  const folder = join(cache, `${name}-${fingerprint()}`)
  if (existsSync(folder)) return folder
  const lock = `${folder}.lock`
  if (!takeLock(lock, folder)) return folder
  try {
    return build(name, folder)
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Waits while another process builds the same folder, because many programs that start at once would each take seconds of CPU
 * for the same build. Returns false when the folder is there.
 */
function takeLock(lock, folder) {
  while (!existsSync(folder)) {
    try {
      mkdirSync(cache, { recursive: true })
      writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
      return true
    } catch (error) {
      // If nothing can be written, the build fails too, and the sources run.
      if (error.code !== 'EEXIST') return true
    }
    if (!isHeld(lock)) rmSync(lock, { force: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
  return false
}

/** Whether the process that took the lock still runs. A process that dies while it takes the lock leaves an empty file. */
function isHeld(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs < EMPTY_LOCK_MS
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function build(name, folder) {
  const making = `${folder}.${process.pid}`
  say(`building ${name} of this checkout, once for each change of its sources ...\n`)
  const startedAt = performance.now()
  try {
    // The bundler runs in its own process, so that the program does not keep its memory.
    const script = 'import(process.argv[1]).then(({ bundle }) => bundle(process.argv[2], new URL(process.argv[3])))'
    const bundler = pathToFileURL(join(import.meta.dirname, 'bundle.mjs')).href
    execFileSync(process.execPath, ['--eval', script, bundler, name, pathToFileURL(`${making}/`).href])
    renameSync(making, folder)
    say(`built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  } catch {
    rmSync(making, { recursive: true, force: true })
    // Another start may have built it in the meantime.
    return existsSync(folder) ? folder : null
  }
  removeOld(name, folder)
  return folder
}

/**
 * Prints progress on a terminal, because a first start would seem to hang; scripts and logs only get the program's own
 * output.
 */
function say(text) {
  if (process.stderr.isTTY) process.stderr.write(text)
}

/** A hash of every source, manifest and installed package. */
function fingerprint() {
  const hash = createHash('sha256')
  const packages = join(root, 'packages')
  const stamps = []
  for (const name of readdirSync(packages)) {
    // The UI is not part of a program: `fresh-ui.mjs` builds it.
    if (name === 'ui') continue
    addSources(stamps, `${packages}/${name}/src`)
    stamps.push(stampOf(join(packages, name, 'package.json')))
  }
  // One text is hashed, because an update of the hash for each of thousands of files takes longer than their times.
  hash.update(stamps.join(''))
  for (const file of BUILDERS) addFile(hash, join(root, file))
  return hash.digest('hex').slice(0, 16)
}

function addSources(stamps, folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) addSources(stamps, path)
    else if (entry.isFile() && !entry.name.includes('.test.')) stamps.push(stampOf(path))
  }
}

/** Adds a file by its size and modification time. */
export function addFile(hash, file) {
  hash.update(stampOf(file))
}

function stampOf(file) {
  const { size, mtimeMs } = statSync(file)
  return `${file} ${size} ${mtimeMs}\n`
}

export function removeOld(name, newest) {
  const builds = readdirSync(cache)
    .filter((entry) => entry.startsWith(`${name}-`))
    .map((entry) => join(cache, entry))
    .filter((folder) => folder !== newest)
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const folder of builds.slice(KEPT)) rmSync(folder, { recursive: true, force: true })
}
