import type { ClientFormat } from '../../llm/format.ts'
import { type ListedModel, readModelList, writeModelList } from '../../llm/providers/model-list.ts'
import type { FormatName } from '../../llm/middle.ts'
import type { ModelListKind } from '../../llm/providers/provider.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import type { CallServices } from './tried-call.ts'
import type { WholeJob } from './whole-call.ts'

export interface ModelsQuestion {
  target: string
  headers: HeaderBlock
  /** Names that the config gives to models: where there are any, nobody else is asked. */
  configured: readonly string[]
}

/** The models that can be asked for, as the client's library reads a list of them. */
export function modelsJob(
  { target, headers, configured }: ModelsQuestion,
  clientFormats: Readonly<Record<'completions' | 'messages', ClientFormat>>,
  { upstreamFormats, clock }: Pick<CallServices, 'upstreamFormats' | 'clock'>,
): WholeJob {
  // One path for both: only libraries of Anthropic say which version they mean.
  const wanted = headers.has('anthropic-version') ? 'anthropic' : 'openai'
  const told = (models: readonly ListedModel[]) => writeModelList(wanted, models, Math.floor(clock() / 1000))
  return {
    operation: null,
    format: wanted === 'anthropic' ? clientFormats.messages : clientFormats.completions,
    prepare({ vendor }) {
      const { modelList } = vendor
      // One that has no list where it answers chats is known by what the config says of it.
      if (configured.length > 0 || modelList === null) {
        return { answer: Promise.resolve(told(configured.map((id) => ({ id })))) }
      }
      const isNative = modelList === wanted
      return {
        call: {
          kind: 'models',
          format: wanted === 'anthropic' ? 'messages' : 'completions',
          model: '',
          stream: false,
          // Parameters of one vendor mean nothing to another; what cannot go on page by page is asked for at once.
          clientTarget: isNative ? target : `/models${modelList === 'anthropic' ? '?limit=1000' : ''}`,
        },
        bytes: null,
        read(answer) {
          const models = readModelList(modelList, answer)
          if (models === null) return null
          return isNative ? answer : told(models)
        },
        readError: (status, body) => upstreamFormats[ERRORS[modelList]].decodeError(status, body),
      }
    },
  }
}

const ERRORS: Readonly<Record<ModelListKind, FormatName>> = {
  openai: 'completions',
  anthropic: 'messages',
  vertex: 'gemini',
}
