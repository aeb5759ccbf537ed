import type { TOOLS } from '../providers/scenes.ts'

/** A vendor's own client library behind one interface, so that all libraries pass the same checks. */
export interface SdkClient {
  name: string
  /** Throws `SdkFailure` for errors of the provider or the gateway. */
  ask(question: Question): Promise<SdkReply>
}

type ToolName = keyof typeof TOOLS

export interface Question {
  scene: string
  model: string
  streamed: boolean
  system?: string
  image?: 'inline' | 'url'
  tools?: ToolName[]
  /** The tool that the model must call. */
  force?: ToolName
  /** Asks for reasoning, and for its text if the format has it. */
  reasons?: true
  schema?: JsonSchema
  stop?: string[]
  maxTokens?: number
  temperature?: number
  topP?: number
}

interface JsonSchema {
  type: string
  properties: Record<string, object>
  required: string[]
  additionalProperties: boolean
}

/** The next message of the user: the results of the tool calls in order, or a text. */
export type FollowUp = { results: string[] } | { text: string }

export interface SdkReply {
  text: string
  refusal: string
  /** The reasoning text, if the provider shows it. */
  reasoning: string
  calls: { id: string; name: string; arguments: unknown }[]
  /** The finish reason as the client's format names it. */
  finish: string
  usage: SdkUsage
  /** Continues the conversation with the messages that the library itself keeps. */
  follow(next: FollowUp): Promise<SdkReply>
}

/** Token usage as the client's format reports it; `input` counts cached tokens too. Null for a number that the format lacks. */
export interface SdkUsage {
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
