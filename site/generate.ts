import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.ts'
import { root } from './site-pages.ts'

for (const [path, content] of generatedFiles((file) => readFileSync(join(root, file), 'utf8'))) {
  writeFileSync(join(root, path), content)
}
