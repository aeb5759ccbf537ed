import { readFileSync, statSync } from 'node:fs'
import type { ConfigProblem, ConfigView } from '../admin/config-view.ts'
import { shownText } from './shown-text.ts'

export interface ConfigViewParts {
  generation: number
  since: number | null
  /** Empty without one. */
  file: string
  /** Of the last reload, without secrets. */
  problems: readonly string[]
}

/** The file as it is now, and what the last reload said of it. */
export function viewConfig({ generation, since, file, problems }: ConfigViewParts): ConfigView {
  const read = readShown(file)
  return { generation, since, file, ...read, problems: problems.map(placed) }
}

function readShown(file: string): Pick<ConfigView, 'text' | 'reason'> {
  if (file === '') return none('this gateway was started without a config file')
  try {
    const { size } = statSync(file)
    if (statSync(file).isDirectory()) return none('the config is a folder of manifests')
    if (size > MOST_BYTES) return none(`the file has more than ${MOST_BYTES / 1024 / 1024} MiB`)
    const text = readFileSync(file, 'utf8')
    // Of resources nobody knows which values are secret.
    if (/^(?:\{\s*)?["']?apiVersion["']?\s*:/m.test(text)) return none('the config is a file of manifests')
    const shown = shownText(text)
    return shown === null
      ? none('the file is no valid YAML, so that secrets in it cannot be told')
      : { text: shown, reason: null }
  } catch (error) {
    return none(`the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`)
  }
}

function none(reason: string): Pick<ConfigView, 'text' | 'reason'> {
  return { text: null, reason }
}

function placed(text: string): ConfigProblem {
  const [, line, column] = /^[^\n]*?:(\d+):(\d+): /.exec(text) ?? []
  return { text, line: line === undefined ? null : Number(line), column: column === undefined ? null : Number(column) }
}

const MOST_BYTES = 2 * 1024 * 1024
