/** A chat request as a fake provider parsed it, independent of any vendor's format. */

export interface ParsedRequest {
  model: string
  streamed: boolean
  system: string
  /** Neighbours of one role are one turn. */
  turns: Turn[]
  tools: ParsedTool[]
  toolChoice: 'auto' | 'none' | 'required' | { name: string } | null
  parallelTools: boolean | null
  settings: Settings
  /** Null when no reasoning was asked for. */
  reasoning: { effort?: string; budget?: number; isShown: boolean } | null
  /** JSON Schema that the answer has to fit. */
  schema: object | null
  /** The number of answers; one when absent. */
  choices?: number
}

export interface Turn {
  role: 'user' | 'assistant'
  parts: ParsedPart[]
}

export type ParsedPart =
  | { type: 'text'; text: string }
  | { type: 'image'; mediaType: string; data: string }
  | { type: 'imageUrl'; url: string }
  | { type: 'call'; id: string | null; name: string; arguments: unknown }
  | { type: 'result'; id: string | null; name: string | null; text: string; isError: boolean }
  | { type: 'reasoning'; text: string; isSigned: boolean }

interface ParsedTool {
  name: string
  description: string | null
  schema: object
}

interface Settings {
  maxTokens: number | null
  temperature: number | null
  topP: number | null
  topK: number | null
  stop: string[]
}

/** Turns as models see them: neighbours of one role are one. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = []
  for (const { role, parts } of turns) {
    const last = merged.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else merged.push({ role, parts: [...parts] })
  }
  return merged
}

export function textsOf(turn: Turn | undefined): string {
  return (turn?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}
