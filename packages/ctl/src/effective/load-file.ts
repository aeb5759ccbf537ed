import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadConfig, printProblem } from '@portico/gateway/config-file'
import type { Ir } from '@portico/gateway/ir'
import type { Io } from '../io.ts'
import type { LocationOf } from './effective.ts'

/** Loads a config file like the gateway; returns the problems when it is invalid. */
export function loadFile(file: string, env: Io['env']): { ir: Ir; placeOf: LocationOf } | { problems: string[] } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { problems: [`${file}: cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`] }
  }
  const loaded = loadConfig(text, { file, dir: dirname(resolve(file)), env })
  if (!loaded.ok) return { problems: loaded.problems.map(printProblem) }
  const { ir, locate } = loaded
  return {
    ir,
    placeOf(part) {
      const place = locate?.(part, []) ?? null
      return place === null ? null : `${place.file}:${place.line}:${place.column}`
    },
  }
}
