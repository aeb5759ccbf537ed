import { dirname } from 'node:path'
import type { CheckedConfig, ConfigEffect, ConfigProblem } from '../../admin/config-edit-view.ts'
import { redact } from '../../redaction/redact.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { EMPTY_IR } from '../../ir/change.ts'
import type { Ir } from '../../ir/resources.ts'
import type { LoadedConfig } from '../../sources/file.ts'
import { firstProblems, printProblem } from '../../sources/print-problems.ts'
import { parseWithLocations } from '../../sources/yaml/yaml.ts'
import { loadText } from '../config/config-source.ts'
import { placed } from '../admin/config-view.ts'
import type { Gateway } from '../config/gateway.ts'
import { HIDDEN } from '../admin/redacted-text.ts'
import { effectOf } from './effect.ts'
import type { EditedText } from './edited-text.ts'
import { type LocatedRefusal, restoreHidden } from './hidden-values.ts'
import { refusedEdits } from './kept-from-edits.ts'
import { compileApart } from './limit-names.ts'
import { isBelow, unknownKeys } from './unknown-keys.ts'
import { parseText } from './yaml-leaves.ts'

/** The gateway and the file that an edit is checked against. */
export interface EditContext {
  /** The name of the file in messages. */
  name: string
  path: string
  workers: number
  gateway: Pick<Gateway, 'ir' | 'served'>
  connectionsOf: (bind: string) => number
  /** Counts the open requests of each worker by route key; null for a worker that does not answer. */
  open: () => Promise<(ReadonlyMap<string, number> | null)[]>
}

export interface Edit {
  /** The edited text, with redacted secrets. */
  text: string
  /** The text of the file. */
  base: string
  /** The text that redacted values are restored from. */
  source: string
  version: string
}

export interface CheckedEdit {
  checked: CheckedConfig
  /** The edit that can go live; null when the edit is rejected. */
  accepted: AcceptedEdit | null
}

/** An accepted edit of the config, with the redacted values put back. */
export interface AcceptedEdit {
  readonly text: string
  /** The config without IPv6 addresses when IPv6 is off in this process. */
  readonly ir: Ir
  /** The file name and the folder that the config text was loaded with. */
  readonly place: { readonly file: string; readonly dir: string }
  /** Maps a location in the config with its real values to the text that was edited. */
  sourcePlace(this: void, location: { line: number; column: number }): { line: number; column: number }
  /** Redacts the values that the edited text hides in a message. */
  withoutValues(this: void, message: string): string
}

/** Checks an edit without applying it. Locations refer to the edited text. */
export async function checkEdit({ text, base, source, version }: Edit, place: EditContext): Promise<CheckedEdit> {
  const answer = (said: Partial<CheckedConfig>): CheckedEdit => ({
    checked: { version, problems: [], warnings: [], refused: [], effect: null, ...said },
    accepted: null,
  })
  const broken = syntaxProblems(text, place.name)
  if (broken.length > 0) return answer({ problems: broken })
  const restored = restoreHidden(text, source)
  if (!restored.ok) return answer({ problems: withUnknownKeys(text, restored.refused, place.name) })
  const { edited } = restored
  // Rejected edits are not loaded: messages could reveal the content of files and variables.
  const refused = refusedEdits(base, edited.text).map((edit) => ({ ...edit, ...edited.sourcePlace(edit) }))
  if (refused.length > 0) return answer({ refused })
  const hide = (problem: string): string => withoutValues(problem, restored.values)
  const tell = (problem: string): ConfigProblem => atSource(hide(problem), edited)
  const folder = { file: place.name, dir: dirname(place.path) }
  const loaded = await loadText(edited.text, folder, null)
  if (!loaded.ok) return answer({ problems: firstProblems(loaded.problems).map(tell) })
  const warnings = loaded.warnings.map((warning) => tell(printProblem(warning)))
  const { problems, effect, next } = await lookAt(loaded, place)
  if (problems.length > 0) return answer({ problems: firstProblems(problems).map(tell), warnings })
  const accepted: AcceptedEdit = {
    ...{ text: edited.text, ir: next, place: folder, withoutValues: hide },
    sourcePlace: (location) => edited.sourcePlace(location),
  }
  return { ...answer({ warnings, effect }), accepted }
}

/** The text that edits are compared with: the file, or the live config when the file is broken YAML. */
export function baseOf(file: string, live: () => string | null): string | null {
  return parseText(file).errors.length === 0 ? file : live()
}

async function lookAt(
  loaded: LoadedConfig,
  place: EditContext,
): Promise<{ problems: string[]; effect: ConfigEffect; next: Ir }> {
  const { gateway, workers, connectionsOf, open } = place
  const [live, next] = [gateway.ir ?? EMPTY_IR, gateway.served(loaded.ir)]
  await loadFeatures(next)
  const { faults, limits } = compileApart(next, workers)
  const effect = effectOf({
    live,
    next,
    limits: { live: limitsOf(live, workers), next: limits },
    connectionsOf,
    open: await open(),
  })
  return { problems: faults.map(loaded.explain), effect, next }
}

/** The limits of a config, which do not change. */
const limitsByIr = new WeakMap<Ir, ReadonlySet<string>>()

function limitsOf(ir: Ir, workers: number): ReadonlySet<string> {
  const known = limitsByIr.get(ir) ?? compileApart(ir, workers).limits
  limitsByIr.set(ir, known)
  return known
}

/** Environment variables are not substituted, because the edit is not yet known to be allowed. */
function syntaxProblems(text: string, file: string): ConfigProblem[] {
  return parseWithLocations(text, file, {})
    .problems.filter(({ code }) => code === 'syntax' || code === 'duplicate_key')
    .map((problem) => placed(printProblem(problem)))
}

/** Reports a misspelled key instead of the redacted values below it, which cannot be matched. */
function withUnknownKeys(text: string, refused: readonly LocatedRefusal[], file: string): ConfigProblem[] {
  const unknown = unknownKeys(text, file)
  const others = refused.filter(({ path }) => !unknown.some((key) => isBelow(path, key)))
  const problems = [...unknown.map((key) => placed(key.text)), ...others.map((refusal) => problemOf(refusal, file))]
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function problemOf({ path, line, column, text }: LocatedRefusal, file: string): ConfigProblem {
  return { text: `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${text}`, line, column }
}

/** Moves the location of a problem from the restored text to the edited text. */
function atSource(problem: string, edited: EditedText): ConfigProblem {
  const { text, line, column } = placed(problem)
  if (line === null || column === null) return { text, line, column }
  const place = edited.sourcePlace({ line, column })
  return { text: text.replace(`:${line}:${column}: `, `:${place.line}:${place.column}: `), ...place }
}

/** Removes values of the config from a message; long values are shortened in messages. */
function withoutValues(problem: string, values: readonly string[]): string {
  let text = String(redact(problem))
  for (const value of values) {
    const quoted = JSON.stringify(value).slice(1, -1)
    for (const form of [value, quoted, quoted.slice(0, 76)])
      if (form.length >= SHORTEST) text = text.replaceAll(form, HIDDEN)
  }
  return text
}

/** Shorter secrets occur inside of words, so they are not replaced. */
const SHORTEST = 3
