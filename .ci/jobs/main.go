// Command jobs replaces Kubernetes for the jobs of deploy/kubernetes:
//
//	jobs check FILE...                   reads the files like Kubernetes; unknown fields are errors
//	jobs run CLAIM=FOLDER... FILE...     runs the containers of each file here, one after the other
//
// The containers of a pod run as processes with the variables of the pod. A folder of this machine replaces a mounted
// claim. Pods of an Indexed Job run in descending order. The first pod runs twice, because Kubernetes repeats a pod
// after the failure of a node. Programs are found in PATH; images are ignored.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("jobs: ")
	if len(os.Args) < 3 || os.Args[1] != "check" && os.Args[1] != "run" {
		log.Fatal("usage: jobs check FILE...; jobs run CLAIM=FOLDER... FILE...")
	}
	claims := map[string]string{}
	for _, arg := range os.Args[2:] {
		if claim, folder, ok := strings.Cut(arg, "="); ok {
			claims[claim] = folder
			continue
		}
		job, err := read(arg)
		if err == nil && os.Args[1] == "run" {
			err = run(job, claims)
		}
		if err != nil {
			log.Fatalf("%s: %v", arg, err)
		}
	}
}

// read reads a job and checks the rules that its types do not express.
func read(name string) (*batchv1.Job, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	job := new(batchv1.Job)
	if err := yaml.UnmarshalStrict(text, job); err != nil {
		return nil, err
	}
	spec := &job.Spec
	pod := &spec.Template.Spec
	indexed := spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
	switch {
	case job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Name == "":
		return nil, fmt.Errorf("is %s %s %q, not a named batch/v1 Job", job.APIVersion, job.Kind, job.Name)
	case pod.RestartPolicy != corev1.RestartPolicyNever:
		return nil, errors.New("failure policies and limits for each index need restartPolicy Never")
	case indexed && spec.Completions == nil:
		return nil, errors.New("an Indexed Job needs completions")
	case !indexed && spec.BackoffLimitPerIndex != nil:
		return nil, errors.New("backoffLimitPerIndex needs completionMode Indexed")
	case len(pod.Containers) == 0:
		return nil, errors.New("there are no containers")
	}
	var names []string
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		names = append(names, c.Name)
		if c.Name == "" || c.Image == "" {
			return nil, fmt.Errorf("container %q has no name or no image", c.Name)
		}
		for _, m := range c.VolumeMounts {
			if _, err := volume(pod, m.Name); err != nil {
				return nil, fmt.Errorf("container %s: %w", c.Name, err)
			}
		}
		v := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == "PARTS" })
		if indexed && (v < 0 || c.Env[v].Value != strconv.Itoa(int(*spec.Completions))) {
			return nil, fmt.Errorf("container %s: PARTS differs from completions", c.Name)
		}
	}
	if spec.PodFailurePolicy != nil {
		for _, r := range spec.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil && !slices.Contains(names, *r.OnExitCodes.ContainerName) {
				return nil, fmt.Errorf("podFailurePolicy: there is no container %s", *r.OnExitCodes.ContainerName)
			}
		}
	}
	return job, nil
}

// volume returns the volume with a name.
func volume(pod *corev1.PodSpec, name string) (*corev1.Volume, error) {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return &pod.Volumes[i], nil
		}
	}
	return nil, fmt.Errorf("there is no volume %s", name)
}

// run runs the pods of a job.
func run(job *batchv1.Job, claims map[string]string) error {
	pods := []int{0}
	if job.Spec.Completions != nil {
		pods = nil
		for i := int(*job.Spec.Completions) - 1; i >= 0; i-- {
			pods = append(pods, i)
		}
		pods = append(pods[:1:1], pods...)
	}
	pod := &job.Spec.Template.Spec
	for _, index := range pods {
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			if err := contain(pod, c, index, claims); err != nil {
				return fmt.Errorf("pod %d, container %s: %w", index, c.Name, err)
			}
		}
	}
	return nil
}

// contain runs a container.
func contain(pod *corev1.PodSpec, c corev1.Container, index int, claims map[string]string) error {
	const completion = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
	env := map[string]string{}
	for _, v := range c.Env {
		switch {
		case v.ValueFrom == nil:
			env[v.Name] = v.Value
		case v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == completion:
			env[v.Name] = strconv.Itoa(index)
		default:
			return fmt.Errorf("the source of the variable %s is not supported", v.Name)
		}
	}
	var words []string
	for _, w := range append(slices.Clone(c.Command), c.Args...) {
		for name, value := range env {
			w = strings.ReplaceAll(w, "$("+name+")", value)
		}
		if strings.Contains(w, "$(") {
			return fmt.Errorf("%s: it contains a variable that is not set", w)
		}
		for _, m := range c.VolumeMounts {
			v, err := volume(pod, m.Name)
			if err != nil {
				return err
			}
			if v.PersistentVolumeClaim == nil || claims[v.PersistentVolumeClaim.ClaimName] == "" {
				return fmt.Errorf("the volume %s has no folder", m.Name)
			}
			w = strings.ReplaceAll(w, m.MountPath+"/", claims[v.PersistentVolumeClaim.ClaimName]+"/")
		}
		words = append(words, w)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd.Run()
}
