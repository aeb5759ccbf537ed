import * as fc from 'fast-check'
import { LlmRecord } from '../records/llm-record.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

/** A chat that was streamed, begun at 1000 on the clock of requests. */
export function streamedChat(facts: Partial<LlmRecord> = {}): LlmRecord {
  return Object.assign(new LlmRecord(), {
    operation: 'chat',
    provider: 'openai',
    requestModel: 'gpt-test',
    responseModel: 'gpt-test-2026',
    streaming: true,
    usage: { input: 70, output: 30, cacheRead: 20, cacheWrite: 5, reasoning: 10 },
    firstTokenAt: 1250,
    endedAt: 1850,
    ...facts,
  })
}

/** Model calls with anything that clients and providers can put into them. */
export const modelCall: fc.Arbitrary<LlmRecord> = fc
  .record(
    {
      operation: fc.constantFrom('chat' as const, 'embeddings' as const, null),
      provider: fc.constantFrom('', 'openai'),
      requestModel: fc.string({ unit: anyCharacter }),
      responseModel: fc.string({ unit: anyCharacter }),
      streaming: fc.boolean(),
      usage: fc.record({ input: fc.nat(), output: fc.nat(), cacheRead: fc.nat() }, { requiredKeys: [] }),
      isEstimated: fc.boolean(),
      firstTokenAt: fc.constantFrom(-1, 1250.125),
      endedAt: fc.constantFrom(-1, 1850),
    },
    { requiredKeys: [] },
  )
  .map(streamedChat)
