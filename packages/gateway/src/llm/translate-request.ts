import type { UpstreamFormat } from './format.ts'
import { Unsupported } from './middle.ts'
import { translateBlocks } from './translate-blocks.ts'
import { translateTools } from './translate-tools.ts'

/** The same format, for requests that may be of another one: what only their own format says is put in plain terms first. */
export function translating(format: UpstreamFormat): UpstreamFormat {
  return {
    ...format,
    encodeRequest(request, target, losses) {
      if (request.format === format.name) return format.encodeRequest(request, target, losses)
      const plain = translateBlocks(translateTools(request, format.name), losses)
      return plain instanceof Unsupported ? plain : format.encodeRequest(plain, target, losses)
    },
  }
}
