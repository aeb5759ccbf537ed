import { fieldText } from '../../../net/field-text.ts'
import { HeaderBlock } from '../../../net/header-block.ts'
import { Reply } from '../../../pipeline/reply.ts'
import { implement } from '../../../pipeline/step.ts'
import { conditional } from '../../../pipeline/conditional.ts'
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
