import type { ClientFormat, FormatName } from '@portico/chat'
import type { HeaderBlock } from '@portico/http'
import { type ListedModel, readModelList, writeModelList } from '../../../llm/providers/model-list.ts'
import type { ModelListKind } from '../../../llm/providers/provider.ts'
import { targetPath } from '../../../formats/query-parameters.ts'
import { modelListFormat } from '../client-request.ts'
import type { CallServices } from '../failover-call.ts'
import type { WholeJob } from './whole-call.ts'

interface ModelsQuestion {
  target: string
  headers: HeaderBlock
  /** Model names from the config; if there are any, no provider is called. */
  configured: readonly string[]
  /** Which models the key of the client may use; null for all. */
  allows: ((name: string) => boolean) | null
}

/** The list of available models, in the format of the client's library. */
export function modelsJob(
  { target, headers, configured, allows }: ModelsQuestion,
  clientFormats: Readonly<Record<'completions' | 'messages' | 'gemini', ClientFormat>>,
  { upstreamFormats, clock }: Pick<CallServices, 'upstreamFormats' | 'clock'>,
): WholeJob {
  const wanted = modelListFormat(targetPath(target), headers)
  const told = (models: readonly ListedModel[]) => {
    const usable = allows === null ? models : models.filter(({ id }) => allows(id))
    return writeModelList(wanted, usable, Math.floor(clock() / 1000))
  }
  return {
    operation: null,
    format: clientFormats[CLIENTS[wanted]],
    prepare({ vendor }) {
      const { modelList } = vendor
      // A provider without a model list gets the list of configured names.
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
          // Query parameters of one vendor mean nothing to another, and the list is requested in one page, because
          // pages cannot be translated.
          clientTarget: isNative ? target : `/models${modelList === 'anthropic' ? '?limit=1000' : ''}`,
        },
        bytes: null,
        read(answer) {
          const models = readModelList(modelList, answer)
          if (models === null) return null
          return isNative && allows === null ? answer : told(models)
        },
        readError: (status, body) => upstreamFormats[ERRORS[modelList]].decodeError(status, body),
      }
    },
  }
}

const CLIENTS = { anthropic: 'messages', gemini: 'gemini', openai: 'completions' } as const

const ERRORS: Readonly<Record<ModelListKind, FormatName>> = {
  openai: 'completions',
  anthropic: 'messages',
  vertex: 'gemini',
}
