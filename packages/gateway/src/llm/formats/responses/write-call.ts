import type { ToolCallPart } from '../../middle.ts'
import { clientCallId } from '../../tool-calls/client-call-id.ts'
import { unwrapInput } from './custom-tools.ts'
import type { ItemOutput, PartWriter } from './item-output.ts'
import { deltaHead } from './item-output.ts'

/** A call; `part` is filled by others. */
export function writeCall(part: ToolCallPart, isCustom: boolean, output: ItemOutput): PartWriter {
  const { id, at, sink } = output
  const place = { item_id: id, output_index: at }
  const call = { call_id: clientCallId(part), name: part.name }
  const head = deltaHead(
    isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
    place,
  )
  const item = (text: string, status: string) =>
    isCustom
      ? { id, type: 'custom_tool_call', status, ...call, input: text }
      : { id, type: 'function_call', status, ...call, arguments: text }
  sink.say('response.output_item.added', { output_index: at, item: item('', 'in_progress') })
  return {
    add(text) {
      // Free text can be told from its JSON only when all of it is there.
      if (!isCustom) sink.delta(head, text)
    },
    end() {
      const text = isCustom ? unwrapInput(part.arguments) : part.arguments || '{}'
      if (isCustom || part.arguments === '') sink.delta(head, text)
      if (isCustom) sink.say('response.custom_tool_call_input.done', { ...place, input: text })
      else sink.say('response.function_call_arguments.done', { ...place, name: part.name, arguments: text })
      output.done(item(text, 'completed'))
    },
  }
}
