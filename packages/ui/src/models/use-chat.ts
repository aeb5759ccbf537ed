import { useRef, useState } from 'react'
import type { McpSession, McpTool } from '../play/mcp-session.ts'
import { readHeaders } from '../play/headers-text.ts'
import { send, type SentRequest } from '../play/send.ts'
import { callTo, type PlayTarget } from '../play/targets.ts'
import { type ChatMessage, runChat, type Turn } from './chat-loop.ts'
import { asError } from '../api/unknown-values.ts'

interface ChatSettings {
  target: PlayTarget
  model: string
  system: string
  isStream: boolean
  headersText: string
  session: McpSession | null
  tools: readonly McpTool[]
  onSent: (sent: SentRequest) => void
}

export interface Chat {
  turns: readonly Turn[]
  isBusy: boolean
  say: (text: string) => void
  stop: () => void
  clear: () => void
}

/** A conversation with a model through the gateway. */
export function useChat(settings: ChatSettings): Chat {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [isBusy, setBusy] = useState(false)
  const history = useRef<ChatMessage[]>([])
  const running = useRef<AbortController | null>(null)

  const show = (turn: Turn, isNew: boolean): void =>
    setTurns((before) => (isNew ? [...before, turn] : [...before.slice(0, -1), turn]))

  const say = (text: string): void => {
    const stop = new AbortController()
    running.current = stop
    const question: ChatMessage = { role: 'user', content: text }
    show({ kind: 'user', text }, true)
    setBusy(true)
    void converse([...history.current, question], settings, stop.signal, show)
      .then(
        (said) => {
          // A question without an answer does not become part of the conversation.
          if (said.length > 0) history.current = [...history.current, question, ...said]
        },
        (error: unknown) => {
          const isStopped = stop.signal.aborted
          const words = isStopped ? 'Stopped' : asError(error).message
          show({ kind: 'failed', text: words, sent: null }, true)
        },
      )
      .finally(() => setBusy(false))
  }
  const clear = (): void => {
    running.current?.abort()
    history.current = []
    setTurns([])
  }
  return { turns, isBusy, say, stop: () => running.current?.abort(), clear }
}

function converse(
  messages: readonly ChatMessage[],
  { target, model, system, isStream, headersText, session, tools, onSent }: ChatSettings,
  signal: AbortSignal,
  show: (turn: Turn, isNew: boolean) => void,
): Promise<ChatMessage[]> {
  const own = readHeaders(headersText)
  const { headers = [], ...call } = callTo(target)
  const instructions: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  return runChat([...instructions, ...messages], {
    model,
    isStream,
    tools,
    show,
    async ask(body, onText) {
      const sent = await send(
        {
          ...call,
          method: 'POST',
          path: `${target.path}/chat/completions`,
          headers: [...headers, ...(typeof own === 'string' ? [] : own), ['content-type', 'application/json']],
          body: JSON.stringify(body),
          trace: true,
        },
        { signal, onText },
      )
      onSent(sent)
      return sent
    },
    callTool(name, args) {
      if (session === null) throw new Error('No tools are selected')
      return session.callTool(name, args, signal)
    },
  })
}
