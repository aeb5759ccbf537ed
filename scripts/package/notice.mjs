// The content of a bundle, for its NOTICE.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Name, version and license text of every package that the modules come from. */
export function notice(modules) {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== null))
  const entries = [...folders].map(describePackage).toSorted((a, b) => (a < b ? -1 : 1))
  return `This program contains the packages below, each under its own license.\n\n${entries.join('\n')}`
}

/** The innermost package in `node_modules` of a module, or null for a module of this project. */
function packageFolder(module) {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? null
}

function describePackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n${text}`
}
