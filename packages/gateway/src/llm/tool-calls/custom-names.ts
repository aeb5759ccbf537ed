import type { ChatRequest } from '../middle.ts'

/** Tools that the client declared as taking free text: it gets their calls in that form. */
export function customNames({ tools }: ChatRequest): ReadonlySet<string> {
  return new Set(tools.filter((tool) => tool.custom !== undefined).map((tool) => tool.name))
}
