import { createHash } from 'node:crypto'
import type { ChatRequest } from '../middle.ts'

/** The tool names that a provider accepts. */
export interface NameRule {
  valid: RegExp
  /** Matches one character that is not allowed in a name; has the flag `g`. */
  invalid: RegExp
  maxLength: number
}

/** For clients of the provider's own format, whose names their provider accepts already. */
export const ANY_NAME: NameRule = { valid: /^/, invalid: /(?!)/g, maxLength: Infinity }

/** Names of letters, digits, `_` and `-`, as most providers have them. */
export function wordNames(maxLength: number): NameRule {
  return { valid: new RegExp(`^[A-Za-z0-9_-]{1,${maxLength}}$`), invalid: /[^A-Za-z0-9_-]/g, maxLength }
}

/**
 * Maps the client's name of every tool in the request to a name that the provider accepts. A tool gets the same name in
 * every request of a conversation, whatever other tools exist. The changed names are added to `toolNames`, provider's
 * name to client's name.
 */
export function nameTools(request: ChatRequest, rule: NameRule, toolNames: Map<string, string>): Map<string, string> {
  const names = namesIn(request)
  const theirs = new Map<string, string>()
  const taken = new Set<string>()
  for (const name of names) {
    if (!rule.valid.test(name)) continue
    theirs.set(name, name)
    taken.add(name)
  }
  for (const name of names) {
    if (theirs.has(name)) continue
    const changed = changedName(name, rule, taken)
    theirs.set(name, changed)
    taken.add(changed)
    toolNames.set(changed, name)
  }
  return theirs
}

/** Tools that the client declared with free text input; the client gets their calls in the same form. */
export function customNames({ tools }: ChatRequest): ReadonlySet<string> {
  return new Set(tools.filter((tool) => tool.custom !== undefined).map((tool) => tool.name))
}

function namesIn(request: ChatRequest): Set<string> {
  const names = new Set(request.tools.map((tool) => tool.name))
  if (request.toolChoice?.kind === 'tool') names.add(request.toolChoice.name)
  for (const { parts } of request.messages) {
    for (const part of parts) {
      if (part.type === 'toolCall') names.add(part.name)
      else if (part.type === 'toolResult' && part.name !== undefined) names.add(part.name)
    }
  }
  return names
}

function changedName(name: string, rule: NameRule, taken: ReadonlySet<string>): string {
  let changed = name.replace(rule.invalid, '_')
  // A name that is still invalid has a wrong first character, or is empty.
  if (!rule.valid.test(changed.slice(0, rule.maxLength))) changed = `_${changed}`
  if (changed.length <= rule.maxLength && !taken.has(changed)) return changed
  const kept = changed.slice(0, rule.maxLength - 1 - HASH_LENGTH)
  let hash = name
  do {
    hash = createHash('sha256').update(hash).digest('hex')
    changed = `${kept}_${hash.slice(0, HASH_LENGTH)}`
  } while (taken.has(changed))
  return changed
}

const HASH_LENGTH = 6
