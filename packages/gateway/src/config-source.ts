import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { QUICK_START } from './quick-start.ts'
import { loadConfig, type LoadResult } from './sources/file.ts'

/** Where the config comes from, and a way to read it again. */
export interface ConfigSource {
  /** As shown to people. */
  name: string
  /** The file to watch; null when there is none. */
  path: string | null
  load(): LoadResult
}

export function configSource(file: string | null): ConfigSource {
  if (file === null) return fixedSource('the built-in quick start', '<quick start>', QUICK_START)
  if (file === '-') return fixedSource('standard input', '<stdin>', readFileSync(0, 'utf8'))
  const path = resolve(file)
  return {
    name: file,
    path,
    load: () => loadConfig(readFileSync(path, 'utf8'), { file, dir: dirname(path), env: process.env }),
  }
}

function fixedSource(name: string, file: string, text: string): ConfigSource {
  return { name, path: null, load: () => loadConfig(text, { file, dir: process.cwd(), env: process.env }) }
}
