import { fieldText, HeaderBlock } from '@portico/http'
import { Reply } from '../../../pipeline/context/reply.ts'
import { implement } from '../../../pipeline/context/step.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import type { DirectResponseConfig } from './schema.ts'

export const directResponse = conditional(
  implement<DirectResponseConfig>((config) => {
    const headers = (config.headers ?? []).map((field) => [field.name, fieldText(field.value)] as const)
    const body = Buffer.from(config.body ?? '')
    return {
      request: () => new Reply(config.status, { headers: HeaderBlock.of(headers), body, reason: 'DirectResponse' }),
    }
  }),
)
