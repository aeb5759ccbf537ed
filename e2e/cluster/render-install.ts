import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutHelm } from './bed/programs.ts'
import { DEPLOY, renderInstall } from './chart.ts'

/** `npm run install-yaml`. */
if (withoutHelm !== false) throw new Error(withoutHelm)
writeFileSync(join(DEPLOY, 'install.yaml'), await renderInstall())
