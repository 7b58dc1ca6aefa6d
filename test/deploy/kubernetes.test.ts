// The Helm chart and the manifests that are generated from it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { chartSchema, chartValues, renderChart } from '../../scripts/helm/chart.ts'
import type { Yaml } from '../../scripts/helm/chart.ts'
import { renderTemplates } from '../../scripts/helm/template.ts'
import { variables } from '../../src/config/config.ts'
import type { Variable } from '../../src/config/values.ts'
import { objectsOf, typeErrorsOf, validateObjects } from './kubernetes.ts'

const defaults: Yaml = await chartValues()
const validate = new Ajv({ allErrors: true }).compile(await chartSchema())
const catalog: Record<string, Variable> = variables

/** The default values with changes. */
const valuesWith = (change: (values: Yaml) => void): Yaml => {
  const values = structuredClone(defaults)
  change(values)
  return values
}

const render = async (values: Yaml): Promise<Yaml[]> =>
  [...(await renderChart(values)).values()].flatMap((text) => objectsOf(text))

const releases: Record<string, Yaml> = {
  'the default values': defaults,
  'fixed numbers of pods and no ingress': valuesWith((values) => {
    for (const role of ['api', 'worker']) values[role].autoscaling.enabled = false
    for (const part of ['ingress', 'migrations', 'networkPolicy']) values[part].enabled = false
  }),
  'every optional value': valuesWith((values) => {
    values.image = { repository: 'registry.example.com/atrium', tag: '1.2.3', pullPolicy: 'Always' }
    values.imagePullSecrets = [{ name: 'registry' }]
    values.env.LOG_LEVEL = 'on: "off" # {{ no template }}'
    for (const role of ['api', 'worker']) {
      values[role].podAnnotations = { 'example.com/scrape': 'true' }
      values[role].nodeSelector = { 'kubernetes.io/arch': 'amd64' }
      values[role].tolerations = [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }]
    }
    values.ingress.tlsSecret = ''
    values.ingress.annotations = {}
  }),
}

const objects = await render(defaults)
const find = (kind: string, name: string): Yaml => {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  assert.ok(found, `there is no ${kind} ${name}`)
  return found
}
const deployments = ['api', 'worker'].map((role) => [role, find('Deployment', `atrium-${role}`)] as const)
const pods: [string, Yaml][] = [
  ...deployments.map(([role, { spec }]): [string, Yaml] => [role, spec.template]),
  ['migrate', find('Job', 'atrium-migrate').spec.template],
]

describe('the Kubernetes objects of the chart', () => {
  for (const [name, values] of Object.entries(releases)) {
    test(`satisfy the schemas of Kubernetes with ${name}`, async () => {
      await validateObjects(await render(values))
    })
  }

  test('have no field that Kubernetes does not know', async () => {
    const all = (await Promise.all(Object.values(releases).map(render))).flat()
    assert.equal(await typeErrorsOf(all), '')
    const misspelled = structuredClone(find('Deployment', 'atrium-api'))
    misspelled.spec.template.spec.containers[0].readinesProbe = {}
    assert.match(await typeErrorsOf([misspelled]), /readinesProbe/)
  })

  for (const [role, pod] of pods) {
    test(`run ${role} as a user without privileges on a read-only file system`, () => {
      const { securityContext, containers, automountServiceAccountToken, volumes } = pod.spec
      assert.equal(securityContext.runAsNonRoot, true)
      assert.equal(securityContext.runAsUser, 10_001, 'the user of the Dockerfile')
      assert.equal(automountServiceAccountToken, false)
      const [container] = containers
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const mounted = container.volumeMounts.map(({ mountPath }: Yaml) => mountPath)
      assert.deepEqual(mounted, ['/data', '/tmp'])
      assert.ok(volumes.every(({ emptyDir }: Yaml) => emptyDir !== undefined))
      assert.deepEqual(container.envFrom, [{ secretRef: { name: 'atrium' } }])
      assert.ok(container.resources.requests.memory && container.resources.limits.memory)
    })

    test(`give ${role} only variables that Atrium reads, and no secret in plain text`, () => {
      for (const { name, value } of pod.spec.containers[0].env) {
        assert.ok(catalog[name], `${name} is in the catalog`)
        assert.notEqual(catalog[name]?.secret, true, `${name} belongs to the Secret`)
        assert.equal(typeof value, 'string')
      }
    })
  }

  for (const [role, { spec }] of deployments) {
    test(`let a pod of ${role} finish its work before it is killed`, () => {
      const { terminationGracePeriodSeconds, containers, shareProcessNamespace } = spec.template.spec
      const sleep = Number(containers[0].lifecycle?.preStop.exec.command[1] ?? 0)
      // 25 s for work in progress and 3 s to close: src/main.ts.
      assert.ok(terminationGracePeriodSeconds >= sleep + 28 + 2, 'and two seconds in reserve')
      assert.ok(role === 'worker' || sleep > 0, 'proxies learn of the end before the process does')
      assert.equal(shareProcessNamespace, true, 'otherwise the watchdog cannot end its process')
    })

    test(`probe ${role} on the port on which it listens`, () => {
      const [container] = spec.template.spec.containers
      const ports = Object.fromEntries(container.ports.map(({ name, containerPort }: Yaml) => [name, containerPort]))
      assert.equal(container.livenessProbe.httpGet.path, '/healthz')
      assert.equal(container.readinessProbe.httpGet.path, '/readyz')
      assert.equal(container.startupProbe.httpGet.path, '/healthz')
      for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
        assert.equal(ports[container[probe].httpGet.port], 3000, 'PORT of the Dockerfile and WORKER_PORT')
      }
      assert.deepEqual(container.command.slice(-2), ['--role', role])
    })

    test(`select the pods of ${role} and no others`, () => {
      const { matchLabels } = spec.selector
      const budget = find('PodDisruptionBudget', `atrium-${role}`)
      const scaler = find('HorizontalPodAutoscaler', `atrium-${role}`)
      assert.deepEqual(budget.spec.selector.matchLabels, matchLabels)
      assert.equal(scaler.spec.scaleTargetRef.name, `atrium-${role}`)
      assert.equal(spec.replicas, undefined, 'an upgrade must not undo the autoscaler')
      const selected = pods.filter(([, { metadata }]) =>
        Object.entries(matchLabels).every(([name, value]) => metadata.labels[name] === value),
      )
      assert.deepEqual(
        selected.map(([name]) => name),
        [role],
      )
    })
  }

  test('send requests to the API pods only', () => {
    const service = find('Service', 'atrium').spec
    const selected = pods.filter(([, { metadata }]) =>
      Object.entries(service.selector).every(([name, value]) => metadata.labels[name] === value),
    )
    assert.deepEqual(
      selected.map(([name]) => name),
      ['api'],
    )
    const { backend } = find('Ingress', 'atrium').spec.rules[0].http.paths[0]
    assert.deepEqual(backend.service, { name: 'atrium', port: { name: service.ports[0].name } })
  })

  test('apply migrations before the pods of a new version start', () => {
    const job = find('Job', 'atrium-migrate')
    assert.equal(job.metadata.annotations['helm.sh/hook'], 'pre-install,pre-upgrade')
    assert.deepEqual(job.spec.template.spec.containers[0].command, ['node', 'src/cli/cli.ts', 'migrate'])
  })

  test('keep strings that YAML would read as something else', async () => {
    const all = await render(releases['every optional value'])
    const deployment = all.find(({ kind }) => kind === 'Deployment')
    const level = deployment.spec.template.spec.containers[0].env.find(({ name }: Yaml) => name === 'LOG_LEVEL')
    assert.equal(level.value, 'on: "off" # {{ no template }}')
    assert.equal(
      find('Ingress', 'atrium').metadata.annotations['nginx.ingress.kubernetes.io/proxy-request-buffering'],
      'off',
    )
  })
})

describe('values.schema.json', () => {
  test('accepts the default values and the values of the tests', () => {
    for (const values of Object.values(releases)) assert.ok(validate(values), JSON.stringify(validate.errors))
  })

  const wrong: Record<string, (values: Yaml) => void> = {
    'a misspelled value': (values) => (values.api.replica = 3),
    'a variable that is no string': (values) => (values.env.DATABASE_POOL_SIZE = 10),
    'no bucket': (values) => delete values.env.S3_BUCKET,
    'a variable that the chart sets': (values) => (values.env.TRUST_PROXY = '0'),
    'a number of pods as text': (values) => (values.worker.replicas = '2'),
  }
  for (const [what, change] of Object.entries(wrong)) {
    test(`rejects ${what}`, () => {
      assert.equal(validate(valuesWith(change)), false)
    })
  }

  test('rejects every secret outside of the Secret', () => {
    const secrets = Object.keys(catalog).filter((name) => catalog[name]?.secret === true)
    assert.ok(secrets.includes('ENCRYPTION_KEYS') && secrets.includes('DATABASE_URL'))
    for (const name of [...secrets, 'AWS_SECRET_ACCESS_KEY', 'MODEL_OPENAI_API_KEY']) {
      assert.equal(validate(valuesWith((values) => (values.env[name] = 'x'))), false, name)
    }
  })
})

describe('the renderer of the chart', () => {
  const renderOne = (source: string, values: object = {}): string =>
    renderTemplates(new Map([['one.yaml', source]]), values).get('one.yaml') ?? ''

  // Expected by the documentation of Go's text/template and of Helm.
  const examples: [source: string, expected: string][] = [
    ['a {{- .b -}} c', 'a1c'],
    ['{{ .none | default .b }}{{ .text | quote }}', '1"x \\"y\\""'],
    ['{{ if .none }}a{{ else }}b{{ end }}', 'b'],
    ['{{ with .map }}{{ .z }}{{ $.b }}{{ end }}', '21'],
    ['{{ range $name, $value := .map }}{{ $name }}={{ $value }};{{ end }}', 'a=3;z=2;'],
    ['x:{{ toYaml .map | nindent 2 }}', 'x:\n  a: 3\n  z: 2'],
    ['{{ define "d" }}[{{ .b }}]{{ end }}{{ include "d" . }}', '[1]'],
    ['{{/* nothing */}}', ''],
  ]
  for (const [source, expected] of examples) {
    test(`renders ${source}`, () => {
      assert.equal(renderOne(source, { b: 1, text: 'x "y"', map: { z: 2, a: 3 } }), expected)
    })
  }

  for (const source of [
    '{{ lookup "v1" }}',
    '{{ if eq .a .b }}{{ end }}',
    '{{ .a.b.c }}',
    '{{ if .a }}',
    '{{ .none }}',
  ]) {
    test(`rejects ${source}, which it does not support or which has no value`, () => {
      assert.throws(() => renderOne(source, { a: {} }))
    })
  }
})

test('the manifests for clusters without Helm contain the same objects', async () => {
  const text = await readFile(new URL('../../deploy/kubernetes/atrium.yaml', import.meta.url), 'utf8')
  const named = (all: Yaml[]): string[] => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  assert.deepEqual(named(objectsOf(text)), named(objects))
  assert.doesNotMatch(text, /helm\.sh/)
})
