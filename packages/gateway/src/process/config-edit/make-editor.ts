import { QUICK_START } from '../config/config-source.ts'
import type { ControllerSettings } from '../controller/controller-settings.ts'
import { type TextInMemory, textOfFile } from '../config/config-text-store.ts'
import type { Reloader } from '../config/reloader.ts'
import { ConfigEditor, type ConfigEditorParts } from './config-editor.ts'
import { whyNoFile } from './why-closed.ts'

/** The source of a config that can be edited. */
export interface EditedSource {
  /** The path of the config file; empty without one. */
  path: string
  /** The text of a source without a file. */
  memory: TextInMemory | null
  /** The name of the source in messages. */
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
