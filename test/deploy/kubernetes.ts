import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import type { Yaml } from '../../scripts/helm/chart.ts'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** The objects of a file. Kubernetes reads YAML 1.1. Throws on syntax errors and duplicate keys. */
export const objectsOf = (yaml: string): Yaml[] =>
  parseAllDocuments(yaml, { version: '1.1' }).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) throw problem
    const object: Yaml = document.toJS()
    return object === null ? [] : [object]
  })

interface Model {
  validate(): void
}

/** The classes of the package kubernetes-models for an API version, generated from the schemas of Kubernetes. */
const modelsOf = (apiVersion: string): Promise<Record<string, new (data: object) => Model>> =>
  // oxlint-disable-next-line typescript/no-unsafe-return -- the name of the module is not constant
  import(`kubernetes-models/${apiVersion}`)

/** Throws for objects that violate the schema of their kind: missing fields, wrong types, wrong formats. */
export const validateObjects = async (objects: Yaml[]): Promise<void> => {
  for (const object of objects) {
    const models = await modelsOf(object.apiVersion)
    const model = models[object.kind]
    if (model === undefined) throw new Error(`${object.apiVersion} has no ${object.kind}`)
    new model(object).validate()
  }
}

/**
 * The errors of the TypeScript compiler for these objects against the types of their kinds. The schemas accept unknown
 * fields, the types do not, so this finds misspelled ones.
 */
export const typeErrorsOf = async (objects: Yaml[]): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-kubernetes-'))
  try {
    await symlink(modules, join(folder, 'node_modules'))
    const lines = objects.map(
      ({ apiVersion, kind, ...rest }, place) =>
        `import type { I${kind} as Kind${place} } from 'kubernetes-models/${apiVersion}'\nexport const object${place}: Kind${place} = ${JSON.stringify({ apiVersion, kind, ...rest })}`,
    )
    await writeFile(join(folder, 'objects.ts'), lines.join('\n'))
    const options = { noEmit: true, strict: true, skipLibCheck: true, module: 'nodenext', types: [] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['objects.ts'] }))
    return await new Promise((resolve) => {
      execFile(join(modules, '.bin/tsc'), ['-p', folder], (_error, stdout, stderr) => resolve(stdout + stderr))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
