import type { PromptConfig } from './schema.ts'
import type { ChatRequest, Message, TextPart } from '@portico/chat'

type Entry = NonNullable<PromptConfig['prepend']>[number]

/**
 * The request with messages of the config around the client's. Instructions before the conversation join the client's;
 * those behind it stand at its end, or with the others where the client's format has one place for all.
 */
export function enrichPrompt(request: ChatRequest, { prepend = [], append = [] }: PromptConfig): ChatRequest {
  if (prepend.length === 0 && append.length === 0) return request
  const hasOnePlace = request.format === 'messages'
  const behind = hasOnePlace ? append.filter(isInstruction).map(textOf) : []
  const last = hasOnePlace ? append.filter((entry) => !isInstruction(entry)) : append
  return {
    ...request,
    system: [...prepend.filter(isInstruction).map(textOf), ...request.system, ...behind],
    messages: [
      ...prepend.filter((entry) => !isInstruction(entry)).map(messageOf),
      ...request.messages,
      ...last.map(messageOf),
    ],
  }
}

function isInstruction({ role }: Entry): boolean {
  return role === 'system' || role === 'developer'
}

function textOf({ content }: Entry): TextPart {
  return { type: 'text', text: content }
}

function messageOf(entry: Entry): Message {
  const role = entry.role === 'developer' ? 'system' : entry.role
  return { role, parts: [textOf(entry)] }
}
