// nginx as the load balancer in front of API processes.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { freePort, pathOf, startDaemon } from './daemons.ts'
import type { Daemon } from './daemons.ts'

const configuration = (port: number, folder: string, apiPorts: number[]): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_max_body_size 20m;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  upstream atrium {
${apiPorts.map((one) => `    server 127.0.0.1:${one} max_fails=1 fail_timeout=1s;`).join('\n')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://atrium;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto http;
      # Streams reach the client as they are written.
      proxy_buffering off;
      proxy_read_timeout 3600s;
      proxy_connect_timeout 2s;
      # A request that may have reached a process is not sent again, unless its method is idempotent.
      proxy_next_upstream error timeout;
    }
  }
}
`

export const startNginx = async (folder: string, apiPorts: number[]): Promise<Daemon & { url: string }> => {
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  await mkdir(join(folder, 'nginx'))
  await writeFile(config, configuration(port, folder, apiPorts))
  const program = (await pathOf('nginx')) ?? ''
  const command = [program, '-p', join(folder, 'nginx'), '-c', config]
  const daemon = startDaemon(command, { logFile: join(folder, 'nginx.log'), isPrivileged: true })
  const url = `http://127.0.0.1:${port}`
  await until('nginx responds', () =>
    fetch(url).then(
      async (response) => {
        await response.body?.cancel()
        return true
      },
      () => false,
    ),
  )
  return { ...daemon, url }
}
