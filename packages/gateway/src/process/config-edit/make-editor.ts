import { QUICK_START } from '../config/config-source.ts'
import type { ControllerSettings } from '../controller/controller-settings.ts'
import { type TextInMemory, textOfFile } from '../config/config-text-store.ts'
import type { Reloader } from '../config/reloader.ts'
import { ConfigEditor, type ConfigEditorParts } from './config-editor.ts'
import { whyNoFile } from './why-closed.ts'

/** Where the config comes from that may be changed. */
export interface EditedSource {
  /** Of the config file; empty without one. */
  path: string
  /** Stands in for a file. */
  memory: TextInMemory | null
  /** As messages have it. */
  name: string
  isManifests: boolean
  reloader: Reloader | null
  controller: ControllerSettings | null
}

export function makeEditor(
  { path, memory, name, isManifests, reloader, controller }: EditedSource,
  parts: Omit<ConfigEditorParts, 'path' | 'text' | 'name' | 'reloader' | 'noFile'>,
): ConfigEditor {
  const kind = { path, isInMemory: memory !== null, isManifests, isControlled: controller !== null }
  return new ConfigEditor({
    ...parts,
    path,
    text: memory ?? textOfFile(path),
    name: memory === null ? name : QUICK_START,
    reloader,
    noFile: () => whyNoFile(kind),
  })
}
