import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { FindIncluded, SourceText } from '../../../import/src/index.ts'

/** One `include` reads at most this many files, and files of at most this size. */
const MOST_FILES = 1_000
const MOST_BYTES = 4 << 20

/**
 * Reads included files below the root, after links are resolved; others are refused, so that a config cannot make the
 * import read any file of the machine. Patterns are relative to the folder of the first file.
 */
export function includedFiles({ files, root }: { files: readonly string[]; root: string | null }): FindIncluded {
  const base = dirname(resolve(files[0] ?? '.'))
  const top = resolve(root ?? base)
  return (pattern) => {
    const path = isAbsolute(pattern) ? resolve(pattern) : resolve(base, pattern)
    if (!isBelow(top, path)) return `outside of ${root ?? 'the folder of the config'}: name a folder with --root`
    const names = expand(relative(top, path).split(sep), top)
    if (names.length === 0 && !/[*?]/.test(pattern)) return 'there is no such file'
    if (names.length > MOST_FILES) return `found more than ${MOST_FILES} files`
    const found: SourceText[] = []
    for (const name of names) {
      const text = readBelow(top, name)
      if (text === null) return `${relative(top, name)} cannot be read, is too large, or leads out of the folder`
      found.push({ name, text })
    }
    return found
  }
}

function isBelow(top: string, path: string): boolean {
  const from = relative(top, path)
  return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from)
}

function readBelow(top: string, name: string): string | null {
  try {
    if (!isBelow(realpathSync(top), realpathSync(name))) return null
    const { size } = statSync(name)
    return size > MOST_BYTES ? null : readFileSync(name, 'utf8')
  } catch {
    return null
  }
}

/** The files of a pattern with `*` and `?` in its segments, in the order of their names. */
function expand([segment, ...rest]: readonly string[], folder: string): string[] {
  if (segment === undefined) return []
  const names = /[*?]/.test(segment) ? namesIn(folder).filter((name) => fits(segment, name)) : [segment]
  const paths = names.map((name) => join(folder, name))
  return rest.length > 0 ? paths.flatMap((path) => expand(rest, path)) : paths.filter((path) => isFile(path))
}

function fits(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(name)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
