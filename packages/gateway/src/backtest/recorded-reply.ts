import { chatReply } from '../config-tests/chat-reply.ts'
import type { UpstreamMessage, WorldReply } from '../simulate/world.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** Returns the answer of the backend to a recorded request: its status and its usage of tokens. */
export function recordedReply({ llm, status }: RequestRecord, message: UpstreamMessage): WorldReply | null {
  const rest = { delayMs: 0, fault: null }
  if (llm !== null && status < 400) {
    const { inputTokens, outputTokens } = llm
    const usage = { input: inputTokens ?? 0, output: outputTokens ?? 0 }
    const made = chatReply(message, { text: 'not recorded', usage })
    return made === null ? null : { ...made, ...rest }
  }
  // A request without a status got no response; its backend may have received it.
  const code = status < 200 ? 200 : status
  return { status: code, headers: [], body: Buffer.alloc(0), trailers: null, ...rest }
}
