import type { ChatRequest, Part, ToolResultPart } from '../middle.ts'
import type { GuardChain } from './chain.ts'
import type { GuardContext, GuardNote, Rejection, TextInfo } from './guard.ts'
import { readObject } from './guard-object.ts'
import { nowOrLater } from './now-or-later.ts'

export interface GuardedRequest {
  /** The request that was given, when nothing was masked. */
  request: { kind: 'request'; request: ChatRequest } | Rejection
  notes: readonly GuardNote[]
}

/** Guards what a provider would read: instructions, messages, tool calls and their results, reasoning. */
export function guardRequest(
  chain: GuardChain,
  request: ChatRequest,
  context: Omit<GuardContext, 'about'>,
): GuardedRequest | Promise<GuardedRequest> {
  const texts: string[] = []
  const about: TextInfo[] = []
  replaceTexts(request, (text, info) => {
    texts.push(text)
    about.push(info)
    return text
  })
  return nowOrLater(chain.run(texts, { ...context, about }), ({ verdict, notes }): GuardedRequest => {
    if (verdict.kind === 'reject') return { request: verdict, notes }
    if (verdict.kind === 'pass') return { request: { kind: 'request', request }, notes }
    const masked = verdict.texts.values()
    return { request: replaceTexts(request, () => masked.next().value ?? ''), notes }
  })
}

type Replace = (text: string, about: TextInfo) => string

/** Calls back with every text, in an order that depends on the request alone. */
function replaceTexts(request: ChatRequest, replace: Replace): GuardedRequest['request'] {
  let broken: Rejection | null = null
  const replaced: ChatRequest = {
    ...request,
    system: request.system.map((part) => ({ ...part, text: replace(part.text, { role: 'system', form: 'text' }) })),
    messages: request.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) => replaceIn(part, message.role)),
    })),
  }
  return broken ?? { kind: 'request', request: replaced }

  function replaceIn(part: Part, role: TextInfo['role']): Part {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return { ...part, text: replace(part.text, { role, form: 'text' }) }
      case 'reasoning': {
        const text = replace(part.text, { role, form: 'text' })
        const { signature: _signature, ...unsigned } = part
        // A signature vouches for text that the provider does not get.
        return text === part.text ? part : { ...unsigned, text }
      }
      case 'toolCall':
        return { ...part, arguments: replace(part.arguments, { role, form: 'json' }) }
      case 'toolResult':
        return { ...part, parts: part.parts.map((inner) => replaceInResult(inner)) }
      case 'native': {
        const guarded = readObject(replace(JSON.stringify(part.value), { role, form: 'json' }))
        if (guarded.kind === 'object') return { ...part, value: guarded.value }
        broken = guarded
        return part
      }
      case 'image':
      case 'audio':
      case 'file':
        return part
    }
  }

  function replaceInResult(part: ToolResultPart['parts'][number]): ToolResultPart['parts'][number] {
    return part.type === 'text' ? { ...part, text: replace(part.text, { role: 'tool', form: 'text' }) } : part
  }
}
