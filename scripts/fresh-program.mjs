// The program of this checkout, built from the sources as they are now.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/portico')
const BUILDERS = [
  'package-lock.json',
  ...['bundle', 'chunk-text', 'compile-ahead', 'notice', 'programs', 'without-descriptions'].map(
    (name) => `scripts/${name}.mjs`,
  ),
  'scripts/record-code.cjs',
]
/** Older builds stay for programs that run them still. */
const KEPT = 8

/**
 * The folder with the bundled program, built now unless it is there already; null where it cannot be built.
 *
 * @param {'gateway' | 'ctl' | 'controller'} name of the package
 */
export function freshProgram(name) {
  const folder = join(cache, `${name}-${fingerprint()}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  say(`building ${name} of this checkout, once for each change of its sources ...\n`)
  const startedAt = performance.now()
  try {
    mkdirSync(cache, { recursive: true })
    // In a process of its own: what the bundler takes of memory is not the program's.
    const script = 'import(process.argv[1]).then(({ bundle }) => bundle(process.argv[2], new URL(process.argv[3])))'
    const bundler = pathToFileURL(join(import.meta.dirname, 'bundle.mjs')).href
    execFileSync(process.execPath, ['--eval', script, bundler, name, pathToFileURL(`${making}/`).href])
    renameSync(making, folder)
    say(`built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  } catch {
    rmSync(making, { recursive: true, force: true })
    // Another start may have been quicker.
    return existsSync(folder) ? folder : null
  }
  removeOld(name, folder)
  return folder
}

/** Without a word, a first start looks like one that hangs; scripts and logs get what the program itself says. */
function say(text) {
  if (process.stderr.isTTY) process.stderr.write(text)
}

/** Changes with every source, manifest and installed package. */
function fingerprint() {
  const hash = createHash('sha256')
  const packages = join(root, 'packages')
  for (const name of readdirSync(packages)) {
    // Pages are no part of a program: `fresh-ui.mjs` builds them.
    if (name === 'ui') continue
    for (const entry of readdirSync(join(packages, name, 'src'), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.includes('.test.')) continue
      addFile(hash, join(entry.parentPath, entry.name))
    }
    addFile(hash, join(packages, name, 'package.json'))
  }
  for (const file of BUILDERS) addFile(hash, join(root, file))
  return hash.digest('hex').slice(0, 16)
}

/** A file counts by its size and time. */
export function addFile(hash, file) {
  const { size, mtimeMs } = statSync(file)
  hash.update(`${file} ${size} ${mtimeMs}\n`)
}

export function removeOld(name, newest) {
  const builds = readdirSync(cache)
    .filter((entry) => entry.startsWith(`${name}-`))
    .map((entry) => join(cache, entry))
    .filter((folder) => folder !== newest)
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const folder of builds.slice(KEPT)) rmSync(folder, { recursive: true, force: true })
}
