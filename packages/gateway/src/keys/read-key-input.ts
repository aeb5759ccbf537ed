import { didYouMean } from '../formats/suggest.ts'
import { object, type Schema } from '../schema/kit.ts'
import { type Problem, printPath } from '../schema/problem.ts'
import { validate } from '../schema/validate.ts'
import type { KeyFields, TeamFields } from '../stores/key-store.ts'
import type { KeyAction, Patch, TeamAction } from './key-messages.ts'
import { entryName, keyShape, rotation, teamShape } from './schema.ts'

/** A change with the name of its object, or the reason why the input is none. */
type NewEntry<Action> = { readonly name: string; readonly change: Action } | { readonly problem: string }
type Change<Action> = { readonly change: Action } | { readonly problem: string }

/** Reads the fields of a new key. */
export function readNewKey(input: unknown): NewEntry<KeyAction> {
  const read = readEntry(object({ name: entryName, ...keyShape }), input)
  if ('problem' in read) return read
  const { name, ...fields } = read.value
  return { name, change: { action: 'create', fields: storedFields<KeyFields>(fields) } }
}

export function readNewTeam(input: unknown): NewEntry<TeamAction> {
  const read = readEntry(object({ name: entryName, ...teamShape }), input)
  if ('problem' in read) return read
  const { name, ...fields } = read.value
  return { name, change: { action: 'create', fields: storedFields<TeamFields>(fields) } }
}

export function readKeyPatch(input: unknown): Change<KeyAction> {
  const read = readPatch<KeyFields>(keyShape, input)
  return 'problem' in read ? read : { change: { action: 'change', ...read } }
}

export function readTeamPatch(input: unknown): Change<TeamAction> {
  const read = readPatch<TeamFields>(teamShape, input)
  return 'problem' in read ? read : { change: { action: 'change', ...read } }
}

export function readRotation(input: unknown): Change<KeyAction> {
  const read = readEntry(rotation, input)
  return 'problem' in read ? read : { change: { action: 'rotate', overlapMs: read.value.overlap } }
}

/** A patch is an object with some of the fields; null removes a field. `basedOn` beside them is the version that it is for. */
function readPatch<Fields extends object>(
  shape: Record<string, Schema>,
  input: unknown,
): { patch: Patch<Fields>; basedOn: string | null } | { problem: string } {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return readEntry(object(shape), input) as { problem: string }
  const { basedOn = null, ...patch } = input as { readonly basedOn?: unknown }
  if (basedOn !== null && typeof basedOn !== 'string') return { problem: 'basedOn: expected the version of the entry' }
  const entries: [string, unknown][] = Object.entries(patch)
  const removed = entries.filter(([, value]) => value === null).map(([name]) => name)
  const unknown = removed.find((name) => !Object.hasOwn(shape, name))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, Object.keys(shape))
    return { problem: `unknown key \`${unknown}\`${hint === null ? '' : `; ${hint}`}` }
  }
  const read = readEntry(object(shape), Object.fromEntries(entries.filter(([, value]) => value !== null)))
  if ('problem' in read) return read
  const nulls = Object.fromEntries(removed.map((name) => [name, null]))
  return { patch: { ...storedFields<Fields>(read.value), ...falses(read.value), ...nulls }, basedOn }
}

/** The store keeps only what was set: `disabled: false` is the same as nothing. */
function storedFields<Fields>(fields: object): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== false),
  ) as Fields
}

function falses(fields: object): object {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === false ? [[name, null]] : [])))
}

/** Reads an entry by its schema; returns the problem when the entry is invalid. */
export function readEntry<Out>(schema: Schema<Out>, input: unknown): { value: Out } | { problem: string } {
  const read = validate(schema, input)
  return read.ok ? { value: read.value } : { problem: read.problems.map(printProblem).join('\n') }
}

function printProblem({ path, found, expected, suggestion }: Problem): string {
  const at = path.length === 0 ? '' : `${printPath(path)}: `
  return `${at}${found}, expected ${expected}${suggestion === null ? '' : `; ${suggestion}`}`
}
