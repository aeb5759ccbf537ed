import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crdFiles } from './crds.ts'
import { kindPages } from './kind-pages.ts'
import { troubleshootingPage } from './troubleshooting.ts'

/** `npm run generate`: writes the files generated from the schemas of our kinds. */
const root = new URL('../../../../', import.meta.url)
const pages = [['docs/troubleshooting.md', troubleshootingPage()]] as const
const files = new Map([...crdFiles(), ...kindPages(), ...pages])
for (const [path, content] of files) {
  const file = fileURLToPath(new URL(path, root))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
process.stdout.write(`wrote ${files.size} files\n`)
