import type { SchemaField } from './schema-field.ts'
import { asError } from '../api/unknown-values.ts'

/** The texts of a form, as people write them. An empty text means that the value is absent. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft }

export interface DraftProblem {
  /** `options.limit`; empty for the whole. */
  readonly path: string
  readonly text: string
}

/** The value of a form; undefined for an empty form. */
export function readDraft(field: SchemaField, draft: Draft): { value: unknown; problems: DraftProblem[] } {
  const problems: DraftProblem[] = []
  const value = read(field, draft, '', problems)
  return { value, problems }
}

function read(field: SchemaField, draft: Draft, path: string, problems: DraftProblem[]): unknown {
  const wrong = (text: string): undefined => void problems.push({ path, text })
  if (!field.isNeeded && isBlank(draft)) return undefined
  if (field.kind === 'object') {
    const parts = isParts(draft) ? draft : {}
    const entries = field.fields.map((each): [string, unknown] => {
      const at = path === '' ? each.name : `${path}.${each.name}`
      return [each.name, read(each, parts[each.name] ?? emptyDraft(each), at, problems)]
    })
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }
  if (field.kind === 'list') {
    const items = Array.isArray(draft) ? (draft as readonly Draft[]) : []
    if (items.length < field.fewest) return wrong(`Needs at least ${field.fewest}`)
    return items.map((item, at) => read(field.item, item, `${path}[${at}]`, problems))
  }
  const text = typeof draft === 'string' ? draft : ''
  if (text.trim() === '') return wrong('Required')
  return readText(field, text, wrong)
}

function readText(
  field: Exclude<SchemaField, { kind: 'object' | 'list' }>,
  text: string,
  wrong: (text: string) => undefined,
): unknown {
  switch (field.kind) {
    case 'text':
      return text
    case 'boolean':
      return text === 'true'
    case 'choice':
      return field.choices.find((choice) => choiceText(choice) === text) ?? wrong('Not one of the choices')
    case 'number':
    case 'integer': {
      const number = Number(text)
      if (!Number.isFinite(number)) return wrong('Expected a number')
      if (field.kind === 'integer' && !Number.isSafeInteger(number)) return wrong('Expected a whole number')
      if (field.least !== null && number < field.least) return wrong(`Expected ${field.least} or more`)
      return field.most !== null && number > field.most ? wrong(`Expected ${field.most} or less`) : number
    }
    case 'json':
      try {
        return JSON.parse(text) as unknown
      } catch (error) {
        return wrong(`Invalid JSON: ${asError(error).message}`)
      }
  }
}

export function emptyDraft(field: SchemaField): Draft {
  if (field.kind === 'list') return Array.from({ length: Math.min(field.fewest, 3) }, () => emptyDraft(field.item))
  if (field.kind === 'object') return Object.fromEntries(field.fields.map((each) => [each.name, emptyDraft(each)]))
  return field.kind === 'choice' && field.isNeeded && field.choices.length === 1 ? choiceText(field.choices[0]) : ''
}

/** The form of a value that was written as JSON. */
export function draftOf(field: SchemaField, value: unknown): Draft {
  if (value === undefined || value === null) return emptyDraft(field)
  if (field.kind === 'object') {
    const parts = typeof value === 'object' ? (value as Record<string, unknown>) : {}
    return Object.fromEntries(field.fields.map((each) => [each.name, draftOf(each, own(parts, each.name))]))
  }
  if (field.kind === 'list') return Array.isArray(value) ? value.map((item) => draftOf(field.item, item)) : []
  if (field.kind === 'text' && typeof value === 'string') return value
  return field.kind === 'choice' ? choiceText(value) : JSON.stringify(value)
}

export function choiceText(choice: unknown): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}

function own(parts: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(parts, name) ? parts[name] : undefined
}

/** Whether every text in the draft is empty. */
function isBlank(draft: Draft): boolean {
  if (typeof draft === 'string') return draft.trim() === ''
  return isParts(draft) ? Object.values(draft).every(isBlank) : draft.length === 0
}

function isParts(draft: Draft): draft is { readonly [name: string]: Draft } {
  return typeof draft === 'object' && !Array.isArray(draft)
}
