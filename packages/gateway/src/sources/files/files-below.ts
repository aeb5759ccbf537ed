import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The files in a folder and below it; links are followed. Hidden files are left out: a mounted ConfigMap keeps its versions
 * in hidden folders, and links to the current one. A link without a target counts as a file.
 */
export function filesBelow(folder: string): string[] {
  return walk(folder, new Set()).toSorted()
}

/** `above` are the folders on the way here: a link to one of them would lead round for ever. */
function walk(folder: string, above: ReadonlySet<string>): string[] {
  const own = realpathSync(folder)
  if (above.has(own)) return []
  const within = new Set([...above, own])
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(folder, name))
    .flatMap((path) => (isFolder(path) ? walk(path, within) : [path]))
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
