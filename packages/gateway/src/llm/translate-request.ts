import type { UpstreamFormat } from './format.ts'
import { Unsupported } from './middle.ts'
import { translateBlocks } from './translate-blocks.ts'
import { translateTools } from './translate-tools.ts'

/**
 * The same format, extended to requests of other formats: parts that only those formats have are first converted to
 * common parts.
 */
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
