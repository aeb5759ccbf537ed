import { callAnthropic } from './anthropic-calls.ts'
import type { Job, Outcome } from './call.ts'
import { callGoogle } from './google-calls.ts'
import { callOpenai } from './openai-calls.ts'
import { callRerank } from './rerank-calls.ts'

const CLIENTS = {
  openai: callOpenai,
  anthropic: callAnthropic,
  google: callGoogle,
  cohere: callRerank,
  voyage: callRerank,
} as const

/** Makes the calls one after the other, as the clients in other languages do. */
export async function runJavaScript(jobs: readonly Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const job of jobs) outcomes.push(await CLIENTS[job.library](job))
  return outcomes
}
