import { lose } from './client-fields.ts'
import { unsupportedStoredField } from './stored-fields.ts'
import { isKnownMember, refusedMember } from './request-members.ts'
import type { ChatRequest, FormatName, Json, JsonObject, Loss } from '../middle.ts'
import { Unsupported } from '../middle.ts'

/**
 * Handles the client's members that the middle does not know: returns them for an upstream of the client's own format;
 * for other formats reports them, or refuses the request when the response would not be what the client asked for.
 */
export function carryRest(request: ChatRequest, format: FormatName, losses: Loss[]): JsonObject | Unsupported {
  if (request.format === format) return request.rest
  const stored = unsupportedStoredField(request)
  if (stored !== null) return stored
  for (const [name, value] of Object.entries(request.rest)) {
    const refused = refusedMember(request.format, name, value) ?? refusedForm(name, value)
    if (refused !== null) return refused
    if (!isHonoured(name, value)) report(name, value, losses, isKnownMember(request.format, name) ? undefined : UNKNOWN)
  }
  const list = request.format === 'responses' ? 'input[]' : 'messages[]'
  reportAll('system[]', request.system, losses)
  reportAll('tools[]', request.tools, losses)
  for (const message of request.messages) {
    reportMembers(list, message.rest, losses)
    reportAll(`${list}.content[]`, message.parts, losses)
  }
  return {}
}

/** The members of parts, tools and messages that carry fields unknown to the middle. */
interface ExtendedPart {
  type?: string
  rest?: JsonObject
  value?: JsonObject
  parts?: readonly ExtendedPart[]
}

function reportAll(path: string, extended: readonly ExtendedPart[], losses: Loss[]): void {
  for (const { type, rest, value, parts } of extended) {
    if (type === 'native') {
      const kind = typeof value?.type === 'string' ? value.type : 'unknown'
      lose(losses, { what: 'dropped', path, note: `${kind} has no counterpart` })
    }
    reportMembers(path, rest, losses)
    if (parts !== undefined) reportAll(`${path}.content[]`, parts, losses)
  }
}

function reportMembers(path: string, rest: JsonObject | undefined, losses: Loss[]): void {
  for (const [name, value] of Object.entries(rest ?? {})) {
    if (!BOOKKEEPING.has(name)) report(`${path}.${name}`, value, losses)
  }
}

/** Reports a dropped member. SDKs send null, false or an empty list for members that are not set. */
function report(path: string, value: Json, losses: Loss[], note?: string): void {
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) return
  lose(losses, { what: 'dropped', path, ...(note !== undefined && { note }) })
}

/** Refuses a member that the middle supports, but not in this form. */
function refusedForm(name: string, value: Json): Unsupported | null {
  const message = FORMS.get(name)
  return value === null || message === undefined ? null : new Unsupported(name, message)
}

const FORMS: ReadonlyMap<string, string> = new Map([
  ['tool_choice', 'this provider knows only auto, none, required and a named tool'],
  ['response_format', 'this provider knows only text, json_object and json_schema'],
  ['functions', 'must be a list of functions'],
  ['function_call', 'must be none, auto or the name of a function'],
])

const UNKNOWN = 'unknown member'

/**
 * Whether a member needs no report: the middle has the value too, the response encoder reads it, or its effect is the
 * default.
 */
function isHonoured(name: string, value: Json): boolean {
  if (name === 'n') return value === 1
  if (name === 'modalities') return true
  if (name === 'include') return Array.isArray(value) && value.every((each) => each === 'reasoning.encrypted_content')
  return name === 'stream_options' || name === 'max_completion_tokens'
}

/**
 * Members of output items that Responses clients send back; they have a meaning only for the provider that made the
 * items.
 */
const BOOKKEEPING: ReadonlySet<string> = new Set(['id', 'status', 'item', 'role'])
