import { readFileSync, statSync } from 'node:fs'
import type { ConfigProblem, ConfigView } from '../../admin/config-view.ts'
import type { ConfigTextStore } from '../config/config-text-store.ts'
import { redactedConfigText } from './redacted-text.ts'

interface ConfigViewParts {
  generation: number
  since: number | null
  /** The path of the config file; empty when there is none. */
  file: string
  /** The text of a config without a file. */
  memory: ConfigTextStore | null
  /** Problems of the last reload, without secrets. */
  problems: readonly string[]
  edit: ConfigView['edit']
  versionOf: (text: string) => string
}

/** `viewConfig` returns the file as it is now, with the problems of the last reload. */
export function viewConfig(parts: ConfigViewParts): ConfigView {
  const { generation, since, file, memory, problems, edit, versionOf } = parts
  const read = memory === null ? readShown(file, versionOf) : shown(memory.read(), versionOf)
  return { generation, since, file, isInMemory: memory !== null, ...read, problems: problems.map(placed), edit }
}

type ReadFile = Pick<ConfigView, 'text' | 'reason' | 'version'>

function readShown(file: string, versionOf: ConfigViewParts['versionOf']): ReadFile {
  if (file === '') return none('this gateway was started without a config file')
  try {
    const { size } = statSync(file)
    if (statSync(file).isDirectory()) return none('the config is a folder of manifests')
    if (size > MOST_BYTES) return none(`the file has more than ${MOST_BYTES / 1024 / 1024} MiB`)
    const text = readFileSync(file, 'utf8')
    // No schema says which values of Kubernetes resources are secret.
    if (/^(?:\{\s*)?["']?apiVersion["']?\s*:/m.test(text)) return none('the config is a file of manifests')
    return shown(text, versionOf)
  } catch (error) {
    return none(`the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`)
  }
}

function shown(text: string, versionOf: ConfigViewParts['versionOf']): ReadFile {
  const [clean, version] = [redactedConfigText(text), versionOf(text)]
  return clean === null
    ? { ...none('the file is not valid YAML, so its secrets cannot be redacted'), version }
    : { text: clean, reason: null, version }
}

function none(reason: string): ReadFile {
  return { text: null, reason, version: null }
}

export function placed(text: string): ConfigProblem {
  const [, line, column] = /^[^\n]*?:(\d+):(\d+): /.exec(text) ?? []
  return { text, line: line === undefined ? null : Number(line), column: column === undefined ? null : Number(column) }
}

const MOST_BYTES = 2 * 1024 * 1024
