import type { TestContext } from 'node:test'
import type { ApplyOutcome } from '../../../admin/config-edit-api.ts'
import type { Logger } from '../../../telemetry/log/logger.ts'
import { loadText } from '../../config/config-source.ts'
import type { Gateway } from '../../config/gateway.ts'
import { TextInMemory } from '../../config/config-text-store.ts'
import { GenerationHistory } from '../../config/config-history.ts'
import { Reloader } from '../../config/reloader.ts'
import { ConfigEditor } from '../config-editor.ts'

/** A config in memory, as the quick start has it, with what edits it; `apply` is an edit of the text that is there. */
export function useEditedMemory(t: TestContext, text: string, gateway: Gateway) {
  const memory = new TextInMemory(text)
  const place = { file: '<memory>', dir: '.' }
  const reloader = new Reloader({
    ...{ name: 'memory', path: null, guide: null },
    load: (next = memory.read()) => loadText(next, place, null),
  })
  t.after(() => reloader.close())
  const silent = { error() {}, warn() {}, info() {} } as unknown as Logger
  reloader.start(gateway, silent)
  const editor = new ConfigEditor({
    ...{
      name: '<memory>',
      path: '',
      workers: 1,
      text: memory,
      reloader,
      history: new GenerationHistory(),
      log: silent,
    },
    gateway,
    connectionsOf: () => 0,
    open: () => Promise.resolve([]),
    noFile: () => null,
    closed: () => null,
  })
  const apply = (next: string): Promise<ApplyOutcome> =>
    editor.apply({ text: next, basedOn: editor.versionOf(memory.read()) })
  return { memory, reloader, apply }
}
