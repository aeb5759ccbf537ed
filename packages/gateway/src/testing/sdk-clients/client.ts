import type { TOOLS } from '../providers/scenes.ts'

/** A vendor's own client library, asked and heard in one way, so that the same checks hold for all of them. */
export interface SdkClient {
  name: string
  /** Throws `SdkFailure` for errors of the provider or the gateway. */
  ask(question: Question): Promise<Heard>
}

export type ToolName = keyof typeof TOOLS

export interface Question {
  scene: string
  model: string
  streamed: boolean
  system?: string
  image?: 'inline' | 'url'
  tools?: ToolName[]
  /** The one tool that has to be called. */
  force?: ToolName
  /** Reasoning is wanted, and shown where it can be. */
  reasons?: true
  schema?: JsonSchema
  stop?: string[]
  maxTokens?: number
  temperature?: number
  topP?: number
}

export interface JsonSchema {
  type: string
  properties: Record<string, object>
  required: string[]
  additionalProperties: boolean
}

/** What is said next: results of the calls in their order, or another sentence. */
export type FollowUp = { results: string[] } | { text: string }

export interface Heard {
  text: string
  refusal: string
  /** As far as it is shown. */
  reasoning: string
  calls: { id: string; name: string; arguments: unknown }[]
  /** In the words of the client's format. */
  finish: string
  usage: HeardUsage
  /** Goes on with what the library itself keeps of the conversation. */
  follow(next: FollowUp): Promise<Heard>
}

/** As the client's format reports it, with `input` holding everything that was read; null where it has no such number. */
export interface HeardUsage {
  input: number | null
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
}

export class SdkFailure extends Error {
  /** Undefined for failures within a stream. */
  readonly status: number | undefined
  readonly retryAfter: string | null

  constructor(message: string, status: number | undefined, retryAfter: string | null = null) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

export interface Endpoint {
  url: string
  key: string
}

/** The words that name the scene to the fake. */
export function promptOf(question: Question): string {
  return `Please play scene: ${question.scene}`
}
