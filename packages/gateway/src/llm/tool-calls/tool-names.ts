import { createHash } from 'node:crypto'
import type { ChatRequest } from '../middle.ts'

/** Which names of tools a provider takes. */
export interface NameRule {
  valid: RegExp
  /** One character that may not stand in a name; global. */
  invalid: RegExp
  maxLength: number
}

/**
 * A name for every tool that the request speaks of, by the client's name. The same tool has the same name in every
 * request of a conversation, whatever stands beside it. `toolNames` gets those that had to change, theirs to the client's.
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

/** Tools that the client declared as taking free text: it gets their calls in that form. */
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
  // What is still wrong can only be how it begins, or that it is empty.
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
